"""Does every field hold what its dataclass declares? For objects that were built from foreign JSON."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from math import isfinite
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

DEEPEST_MAPPING = 8
"""Levels of nesting in a free mapping; deeper ones would only exhaust a reader's stack."""


def check_fields(body: Any, prefix: str = "") -> None:
    """Check every field, nested dataclasses too, so that the object can be written as JSON again.

    Raises:
        ValueError: names the field and what is wrong with it.
    """
    for name, hint in get_type_hints(type(body)).items():
        value, where = getattr(body, name), prefix + name
        allowed = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        if value is None and NoneType in allowed:
            continue
        for kind in allowed:
            if kind is str:
                _text(where, value)
            elif kind is bool and not isinstance(value, bool):
                raise ValueError(f"{where} is not true or false")
            elif kind is int:
                integer(where, value, None)
            elif kind is float:
                _number(where, value)
            elif get_origin(kind) is tuple:
                if not isinstance(value, tuple):
                    raise ValueError(f"{where} is not a list")
                for item in value:
                    integer(f"an entry of {where}", item, None)
            elif get_origin(kind) is Mapping:
                if not isinstance(value, Mapping):
                    raise ValueError(f"{where} is not an object")
                _plain(where, value, DEEPEST_MAPPING)
            elif isinstance(kind, type) and is_dataclass(kind):
                if not isinstance(value, kind):
                    raise ValueError(f"{where} is not an object")
                check_fields(value, f"{where}.")


def integer(name: str, value: Any, least: int | None) -> None:
    """Refuse anything but a whole number of at most 64 bits that is not below ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} is not a whole number")
    if least is not None and value < least:
        raise ValueError(f"{name} is {value}, below {least}")
    if abs(value) >= 2**63:
        raise ValueError(f"{name} has more than 64 bits")


def _plain(name: str, value: Any, depth: int) -> None:
    """Anything JSON can hold, nested at most ``depth`` deep."""
    if depth == 0:
        raise ValueError(f"{name} is nested more than {DEEPEST_MAPPING} deep")
    match value:
        case None | bool():
            pass
        case str():
            _text(name, value)
        case int() | float():
            _number(name, value)
        case Mapping():
            for key, item in value.items():
                _text(name, key)
                _plain(name, item, depth - 1)
        case list() | tuple():
            for item in value:
                _plain(name, item, depth - 1)
        case _:
            raise ValueError(f"{name} holds a {type(value).__name__}, which JSON cannot")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} holds half of a character (a lone surrogate)") from error


def _number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is not a number")
    if isinstance(value, int):
        integer(name, value, None)
    if not isfinite(value):
        raise ValueError(f"{name} is {value}, which is not a finite number")
