"""The C++ runner for phones: its sources, and what builds them. Same protocol and same decisions as in Python."""
