"""How is a number written? Times, dates, throughput, shares, differences, counts, and what is missing.

``None`` and NaN are "n/a", never 0. Everything here returns plain text without markup.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime

NA = "n/a"
MINUS = "\N{MINUS SIGN}"
AGAINST = "Against target-only"
"""Name of a column of gains over target-only's TPS."""


def missing(value: float | None) -> bool:
    """Whether there is no number to show."""
    return value is None or not math.isfinite(value)


def significant(value: float, digits: int = 3) -> str:
    """A number with ``digits`` significant digits, thousands separated, never in exponent form."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    if rounded != 0:  # 99.96 becomes 100, which has one digit more in front of the point
        decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return _sign(f"{rounded:,.{max(decimals, 0)}f}")


def duration(value_ms: float | None) -> str:
    """A time with three significant digits: µs below 1 ms, ms below 1 s, then s (``59.4 ms``, ``7.28 s``)."""
    if missing(value_ms):
        return NA
    size = abs(value_ms)
    if size == 0:
        return "0 ms"
    if size < 0.9995:
        return f"{significant(value_ms * 1e3)} µs"
    if size < 999.5:
        return f"{significant(value_ms)} ms"
    return f"{significant(value_ms / 1e3)} s"


def wait(seconds: float) -> str:
    """A length of time for a person who waits (``40 s``, ``3 min``, ``1.5 h``)."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def stretch(start_ms: float, end_ms: float) -> str:
    """From when to when, on the clock of a figure (``−412.0 to 0.0 ms``)."""
    return f"{decimals(start_ms, 1)} to {decimals(end_ms, 1)} ms"


def whole_ms(value_ms: float | None) -> str:
    """A time in whole milliseconds, for sums that a reader adds up (``7,282 ms``); finer below 10 ms."""
    if missing(value_ms):
        return NA
    if value_ms != 0 and abs(value_ms) < 10:
        return f"{significant(value_ms)} ms"
    return _sign(f"{value_ms:,.0f} ms")


def tps(value: float | None) -> str:
    """Throughput in committed tokens per second (``27.92 tok/s``)."""
    return NA if missing(value) else f"{value:,.2f} tok/s"


def share(value: float | None) -> str:
    """A fraction of 1 as a percentage with one decimal (``0.068`` is ``6.8 %``)."""
    return NA if missing(value) else _sign(f"{value * 100:,.1f} %")


def part(count: int | None, whole: int | None) -> str:
    """``accepted of proposed`` with its share; no share of nothing."""
    if count is None or whole is None:
        return NA
    return f"{count:,} of {whole:,} ({share(count / whole)})" if whole else f"{count:,} of 0"


def percent(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A percentage with its interval (``2.2 % [1.9, 2.5]``); arguments are percentages."""
    return NA if missing(value) else f"{decimals(value, 1)} %{_between(interval)}"


def signed_percent(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A difference in percent with its interval (``+64.6 % [61.2, 67.9]``); arguments are percentages."""
    return NA if missing(value) else f"{decimals(value, 1, signed=True)} %{_between(interval)}"


def _between(interval: tuple[float, float] | None) -> str:
    if interval is None or any(missing(end) for end in interval):
        return ""
    return f" [{decimals(interval[0], 1)}, {decimals(interval[1], 1)}]"


def decimals(value: float | None, digits: int, *, signed: bool = False) -> str:
    """A number without a unit, where a sentence or the head of a column names it (``−1.25``)."""
    if missing(value):
        return NA
    shown = round(value, digits) + 0.0  # never "−0.0"
    return _sign(f"{shown:+,.{digits}f}" if signed else f"{shown:,.{digits}f}")


def general(value: float | None, digits: int) -> str:
    """A number of which nobody knows what it is: at most so many significant digits (``−0.0125``, ``1.2e−09``)."""
    return NA if missing(value) else _sign(f"{value:,.{digits}g}")


def gain(tps_: float | None, reference_tps: float | None) -> float | None:
    """Percent by which a TPS is above a reference's; ``None`` when one of them is missing or 0."""
    if missing(tps_) or missing(reference_tps) or not reference_tps:
        return None
    return (tps_ / reference_tps - 1) * 100


def against_target_only(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A gain over target-only's TPS in a sentence or beside a mark (``+64.6 % [61.2, 67.9] against target-only``).

    In a table the column is named ``AGAINST`` and holds ``signed_percent``.
    """
    return NA if missing(value) else f"{signed_percent(value, interval)} against target-only"


def times_faster(value: float | None) -> str:
    """How many times faster a schedule could be (``1.64×``); what was gained is a ``gain``."""
    return NA if missing(value) else f"{value:,.2f}×"


def count(value: float | None) -> str:
    """A number of things (``94,511``)."""
    return NA if missing(value) else _sign(f"{value:,.0f}")


def whole(value: int) -> str:
    """A whole number of which nobody knows whether it counts something: no separators (an id, a token, a year)."""
    return _sign(f"{value:d}")


def counted(value: int | None, thing: str) -> str:
    """A number with what it counts (``1 token``, ``62 tokens``)."""
    return f"{count(value)} {thing}" if value == 1 else f"{count(value)} {thing}s"


def sample_size(value: int | None) -> str:
    """How many there are behind a mean (``n = 12``)."""
    return f"n = {count(value)}"


def moment(when: datetime | str | None, zone: str = " UTC") -> str:
    """A date for people, to the second and in UTC (``2026-03-01 10:02:03 UTC``); text that is no date stays itself.

    Args:
        when: an instant, or one in ISO 8601; without a zone it is UTC.
        zone: what follows it; empty where a heading says UTC.
    """
    if when is None or when == "":
        return NA
    try:
        found = datetime.fromisoformat(when) if isinstance(when, str) else when
        found = found if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return str(when)
    return f"{found:%Y-%m-%d %H:%M:%S}{zone}"


def size(value_bytes: float | None) -> str:
    """A size in powers of 1,000 (``20.1 MB``)."""
    if missing(value_bytes):
        return NA
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(value_bytes) >= scale * 0.9995:
            return f"{significant(value_bytes / scale)} {unit}"
    return f"{value_bytes:,.0f} B"


def temperature(value_c: float | None) -> str:
    """A temperature (``36.5 °C``)."""
    return NA if missing(value_c) else _sign(f"{value_c:.1f} °C")


def power(value_w: float | None) -> str:
    """An electrical power (``4.21 W``)."""
    return NA if missing(value_w) else f"{significant(value_w)} W"


def _sign(text: str) -> str:
    return text.replace("-", MINUS)


@dataclass(frozen=True, slots=True)
class Badge:
    """What a number is, in one word, and what that word means."""

    label: str
    meaning: str


_BADGES = {
    "measured": "Timed on the device's own clock while the models ran.",
    "replayed": "Recorded tokens under a profile's costs: the decisions are real, the times are computed.",
    "published": "Taken from the paper's text or tables.",
    "solved": "Follows arithmetically from published figures.",
    "inferred": "Concluded from published figures under an assumption.",
    "guessed": "Not published and not solvable; a plausible value.",
    "fitted": "Adjusted until a published result came out.",
    "synthetic": "Tokens made to reproduce published totals; nobody said them.",
    "virtual": "Ran on a virtual phone or clock, not on hardware.",
    "emulated": "The drafter was slowed down on purpose to stand for a slower one.",
}


def badge(label: str | None) -> Badge:
    """The badge of a label; one that this version does not know is shown as it is."""
    if not label:
        return Badge("unlabelled", "Where this number comes from is not recorded.")
    return Badge(label, _BADGES.get(label, "This version does not know this label."))
