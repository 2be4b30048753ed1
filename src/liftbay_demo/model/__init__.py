"""The stages with a language model in them. Where it fails or answers nonsense, the rules take over."""
