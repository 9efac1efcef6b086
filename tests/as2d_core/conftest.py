"""Makes this folder's helper modules importable by the tests below it, and gives their examples time to compile."""

from hypothesis import settings

settings.register_profile("as2d", deadline=None)
settings.load_profile("as2d")
