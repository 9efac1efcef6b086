"""Decoding methods, one file each, one signature.

``decode(target, drafter, request, recorder) -> Outcome`` commits tokens round by round until EOS,
the output cap or a cancellation, and leaves rounds, spans and publications with the recorder.
"""

from as2d_core.methods.base import Outcome, method

__all__ = ["Outcome", "method"]
