"""JMultiWOZ-TC: does a model call a tool when it should, and with the right arguments?

31,303 user utterances of 4,246 Japanese dialogues. `generate` asks an endpoint, `score` decides, `breakdown` says
why calls are wrong, `compare` sets two models side by side.
"""
