"""Names that the command line offers, known without torch."""

MODEL_NAMES = ("target", "paper", "light")
STEP_NAMES = ("banks", "tokenizer", "train", "export", "evaluate", "recordings", "ship", "all")
