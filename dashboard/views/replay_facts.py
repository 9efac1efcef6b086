"""What must a report say about a replay? Whose tokens they are, whose costs, which windows, and what is left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from as2d_core.profiles.profile import Profile
from as2d_core.replay.trajectories import TrajectorySet
from dashboard.views import numbers
from dashboard.views.facts import device_text, versions_text

TOKENS = {"measured": "tokens of real models", "synthetic": "tokens drawn by a generator, not recorded"}
_SHOWN = ("precision", "memory", "draft_cap", "threshold", "generator", "parameters", "seed", "split_seed")


def profile_facts(profile: Profile) -> Mapping[str, str]:
    """What a report states of a cost profile."""
    kinds: dict[str, int] = {}
    for item in profile.provenance.values():
        kinds[item.kind] = kinds.get(item.kind, 0) + 1
    origin = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda pair: -pair[1]))
    models = {role: model.sha256 for role, model in sorted(profile.models.items(), reverse=True)}
    stability = profile.stability
    return {
        "Profile": f"{profile.name} ({profile.id}), {profile.kind}",
        "Origin of its values": origin or numbers.NA,
        "Repeats": ": ".join(filter(None, (stability.verdict, stability.reason))),
        "Device": device_text(profile.device) or numbers.NA,
        "Versions": versions_text(profile.versions) or numbers.NA,
        "Models": _models(models),
        "Created": numbers.moment(profile.created_at),
    }


def replay_facts(corpus: TrajectorySet, profile: Profile, splits: Sequence[str]) -> Mapping[str, str]:
    """What a report states of windows of a set that were charged with the costs of a profile.

    Args:
        splits: whose windows its figures are over.
    """
    shown = [window for window in corpus.windows if window.split in splits]
    settings = [
        f"{name.replace('_', ' ')} {_value(corpus.settings[name])}" for name in _SHOWN if name in corpus.settings
    ]
    version = corpus.settings.get("mnn_version")
    tokens = TOKENS.get(corpus.label, corpus.label)
    return {
        "What the numbers are": f"replayed: {tokens}, charged with {profile.kind} costs",
        "Trajectory set": f"{corpus.id}, {numbers.moment(corpus.created_at)}" if corpus.created_at else corpus.id,
        "Windows": f"{len(shown):,} of {len(corpus.windows):,}: {_splits(corpus, splits)}",
        "Models of the set": _models(corpus.models),
        "Settings of the set": ", ".join([*settings, f"output cap {corpus.output_cap:,}"]),
        "Versions": f"mnn {version}" if isinstance(version, str) else numbers.NA,
        "Gates": "none: nothing ran for these figures",
        "Exclusions": " ".join(_exclusions(corpus, profile, shown)) or "none; every window counts",
        **({"Note": corpus.note} if corpus.note else {}),
    }


def _splits(corpus: TrajectorySet, splits: Sequence[str]) -> str:
    known = dict.fromkeys(window.split for window in corpus.windows)
    return ", ".join(split for split in known if split in splits)


def _exclusions(corpus: TrajectorySet, profile: Profile, shown: Sequence[Any]) -> list[str]:
    out = []
    for drafter in corpus.drafters:
        without = sum(corpus.eligible(window, drafter) is None for window in shown)
        if without:
            out.append(f"{drafter} did not run on {numbers.counted(without, 'window')}.")
    capped = sum(window.target_capped for window in shown)
    if capped:
        out.append(f"{numbers.counted(capped, 'output')} {'was' if capped == 1 else 'were'} cut at the output cap.")
    others = [
        role for role, model in sorted(profile.models.items(), reverse=True)
        if model.sha256 and corpus.models and model.sha256 not in corpus.models.values()
    ]  # fmt: skip
    if others:
        named = " and ".join(others)
        out.append(f"The costs were measured with another {named} than the one whose tokens these are.")
    return out


def _models(models: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} (sha256 {digest or numbers.NA})" for name, digest in models.items()) or numbers.NA


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
