"""What is known without torch: names that the command line offers, and seeds of the splits."""

MODEL_NAMES = ("target", "paper", "light")
STEP_NAMES = ("banks", "tokenizer", "train", "export", "evaluate", "recordings", "ship", "all")
SPLIT_SEEDS = {"development": 1000, "validation": 2000}
"""The sealed windows have none here: their seeds are drawn when they are made, once, at the end."""
