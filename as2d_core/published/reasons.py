"""Why can a replay on the synthetic corpus not agree with a printed figure? Sentences for each cell."""

from collections.abc import Iterable

from as2d_core.profiles.profile import Profile
from as2d_core.published.tables import ALL, Key
from as2d_core.replay.budgets import STANDARD_SD_WIDTHS
from as2d_core.replay.specasr import asp_costs

_OF_METHOD = {
    "target_only": "the tokens of each dataset and the phone's step are solved from rounded figures",
    "standard_sd": "the drafter's error rates are drawn from a fit to Tables 8 and 9, not from the paper's traces",
    "specasr": "what the drafter says off the target's path is drawn, not recorded",
    "without_td": "what the drafter says off the target's path is drawn, not recorded",
    "as2d": "the free-running source was fitted to As²d on one phone, all five datasets together",
    "without_bc": "the free-running source was fitted to As²d on one phone, all five datasets together",
}
_OF_ORACLE = (
    "the paper's oracle may choose Parakeet and SenseVoice, too; their traces are not public, and ours has one drafter"
)
_OF_SPREAD = "how much windows differ from each other is guessed, and the paper's worst windows are not among ours"
_OF_CASE = "it is another window: the central one of the synthetic corpus by the same rule"
_OF_PHONES = "it pools phones whose costs are partly guessed"
_OF_REFRESH = (
    "the costs of refreshes and of wide verification were solved together from this row, by a model of recycling whose "
    "counts are not published"
)
_SERIAL = frozenset({"specasr", "without_td"})
_SPREAD = frozenset({"slower_share", "faster", "slower", "median_loss", "max_loss"})


def reasons(key: Key, profile: Profile | None) -> tuple[str, ...]:
    """Why a cell does not agree.

    Args:
        key: what it is a figure of.
        profile: of its phone; ``None`` for figures of all phones.
    """
    methods = _methods(key)
    said = [_OF_CASE] if key.case is not None else []
    if key.quantity == "gap":
        said.append(_OF_ORACLE)
    if key.quantity in _SPREAD:
        said.append(_OF_SPREAD)
    said += [_OF_METHOD[method] for method in methods]
    if profile is not None:
        for method in methods:
            said += _of_costs(profile, method, key)
    elif key.phone == ALL:
        said.append(_OF_PHONES)
    return tuple(dict.fromkeys(said))


def lacking(profile: Profile | None) -> str:
    """Why a cell has no replay at all."""
    if profile is None:
        return "not every phone has all costs that it needs"
    return f"the profile {profile.id!r} lacks a cost that it needs"


def _methods(key: Key) -> tuple[str, ...]:
    if key.method is not None:
        return (key.method,)
    return ("as2d", *key.over) if key.quantity == "gain" else ("as2d",)


def _of_costs(profile: Profile, method: str, key: Key) -> list[str]:
    """What is uncertain about the costs that a method was charged."""
    if method == "target_only":
        return []
    said = []
    if method in _SERIAL:
        costs = asp_costs(profile)
        if costs.substituted:
            said.append(f"costs of recycling are not published for this phone ({', '.join(costs.substituted)})")
        elif _kind(profile, "refresh_token_ms") == "solved":
            said.append(_OF_REFRESH)
    widths = _widths(profile, method, key)
    guessed = [k for k in widths if _kind(profile, f"verify_idle_ms.{k}") == "guessed"]
    if guessed:
        said.append(f"this phone's verification at K = {', '.join(map(str, guessed))} is guessed")
    scalars = (
        ("loop_ms", "draft_serial_ms") if method in {*_SERIAL, "standard_sd"} else ("loop_ms", "draft_overlapped_ms")
    )
    said += [
        f"{name} of this phone is {_kind(profile, name)} ({profile.provenance[name].note})"
        for name in scalars
        if _kind(profile, name) in {"guessed", "fitted"}
    ]
    return said


def _widths(profile: Profile, method: str, key: Key) -> Iterable[int]:
    if method == "standard_sd":
        return STANDARD_SD_WIDTHS if key.width is None else (key.width,)
    budget = profile.deployed_budget if method in {"as2d", "without_td"} else profile.asp_cap
    return range(1, (budget or 0) + 2)


def _kind(profile: Profile, name: str) -> str:
    return profile.provenance[name].kind if name in profile.provenance else ""
