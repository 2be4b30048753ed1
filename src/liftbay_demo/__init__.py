"""A product-centre assistant: the sample agent that ships with liftbay, and knows nothing of it."""

__version__ = "1.0.0"
