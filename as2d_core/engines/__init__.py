"""Engines answer what a method asks: which tokens, and how long it took."""
