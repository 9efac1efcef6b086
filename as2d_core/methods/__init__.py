"""Decoding methods, one file each, one signature.

``decode(target, drafter, request, recorder) -> Outcome`` commits tokens round by round until EOS,
the output cap or a cancellation, and leaves rounds, spans and publications with the recorder.
"""

from as2d_core.errors import unknown_name
from as2d_core.methods import as2d, specasr, standard_sd, target_only
from as2d_core.methods.base import Decode, Outcome

__all__ = ["Decode", "Outcome", "method"]

_DECODERS: dict[str, Decode] = {
    "target-only": target_only.decode,
    "sd": standard_sd.decode,
    "specasr": specasr.decode,
    "as2d": as2d.decode,
}


def method(name: str) -> Decode:
    """The decode function of a method.

    Raises:
        UnknownNameError: there is no such method.
    """
    if name not in _DECODERS:
        raise unknown_name("method", name, list(_DECODERS))
    return _DECODERS[name]
