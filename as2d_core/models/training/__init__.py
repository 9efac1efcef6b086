"""How the demo models are made: speech bank, training, export, evaluation (``pip install .[training]``)."""
