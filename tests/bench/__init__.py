"""Helpers of the tests, which the bench uses too, find each other as they do in the tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
