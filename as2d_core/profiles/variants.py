"""What if wide verification beside a running source cost more or less than assumed? (Appendix D.4.3, D.5)"""

import math
from dataclasses import replace

from as2d_core.errors import ProfileError
from as2d_core.profiles.profile import Profile, Provenance


def with_concurrent_ratio(profile: Profile, ratio: float) -> Profile:
    """The profile with another assumption about the widths that were not measured beside the source.

    Measured concurrent costs stay, and so does everything else. A profile whose widths were all
    measured comes back as it is.

    Args:
        profile: which widths it assumes is in ``extrapolated_concurrent``.
        ratio: concurrent cost over idle cost at those widths.

    Raises:
        ProfileError: the ratio is no positive number.
    """
    if not (math.isfinite(ratio) and ratio > 0):
        raise ProfileError(f"A concurrent cost of {ratio} times the idle cost cannot be; give a ratio above zero.")
    widths = [k for k in profile.extrapolated_concurrent if k in profile.verify_idle_ms]
    if not widths:
        return profile
    assumed = {k: profile.verify_idle_ms[k] * ratio for k in widths}
    origin = Provenance("inferred", f"idle cost at an assumed concurrent ratio of {ratio:g}")
    names = {f"verify_concurrent_ms.{k}" for k in widths}
    return replace(
        profile,
        name=f"{profile.name}, concurrent ratio {ratio:g} where it was not measured",
        verify_concurrent_ms={**profile.verify_concurrent_ms, **assumed},
        provenance={**profile.provenance, **dict.fromkeys(names, origin)},
        spread={name: spread for name, spread in profile.spread.items() if name not in names},
    )


def concurrent_scenarios(profile: Profile) -> dict[str, Profile]:
    """The sensitivity of Appendix D.4.3: ``nominal``, ``low`` and ``high`` concurrent ratio at assumed widths.

    A profile that assumes no width has the nominal scenario only.

    Raises:
        ProfileError: widths are assumed, but the profile does not say which ratios were measured.
    """
    if not profile.extrapolated_concurrent:
        return {"nominal": profile}
    if profile.concurrent_ratio_extremes is None:
        raise ProfileError(
            f"{profile.id!r} assumes concurrent costs, but not between which ratios they may lie; "
            "set concurrent_ratio_extremes, or calibrate again."
        )
    low, high = profile.concurrent_ratio_extremes
    return {
        "nominal": profile,
        "low": with_concurrent_ratio(profile, low),
        "high": with_concurrent_ratio(profile, high),
    }
