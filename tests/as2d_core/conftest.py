"""Makes this folder's helper modules importable by the tests below it."""
