"""What do two runners differ in, and how fast is each? Pure functions over pairs of records."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from as2d_core.accounting import summarise
from as2d_core.records import RunRecord
from as2d_core.validation import check_record

SAME_PROBABILITY = 1e-4
"""Two builds of MNN may round a confidence differently by this much; a token never."""
OWN_WANTED_US = 20.0
"""Time of a native round outside model calls that is wanted at most."""

Pair = tuple[RunRecord, RunRecord]
"""The same request on the Python runner and on the native one."""


def differences(python: RunRecord, native: RunRecord) -> list[str]:
    """In what two runs of one request differ that must not; empty when all is well."""
    facts = {
        "status": lambda r: r.status,
        "tokens": lambda r: r.tokens,
        "text": lambda r: r.end and r.end.text,
        "hash of the target": lambda r: r.request.target.sha256,
        "hash of the drafter": lambda r: r.request.drafter and r.request.drafter.sha256,
        "hash of the audio": lambda r: r.request.audio.sha256,
        "duration of the audio": lambda r: r.request.audio.duration_s,
        "widths in use": lambda r: {role: engine.widths for role, engine in r.engines.items()},
        "cores": lambda r: {role: engine.cores for role, engine in r.engines.items()},
    }
    found = [
        f"{what} differ: {fact(python)} and {fact(native)}"
        for what, fact in facts.items()
        if fact(python) != fact(native)
    ]
    for name, record in (("Python", python), ("native", native)):
        found += [f"{name} record: {problem}" for problem in [*record.problems, *check_record(record)]]
        if record.status not in ("eos", "capped"):
            found.append(f"{name} run {record.status}: {record.end.error if record.end else 'no end'}")
    if python.request.method != "as2d":
        found += _different_rounds(python, native)
    return found + _different_candidates(python, native)


def _different_rounds(python: RunRecord, native: RunRecord) -> list[str]:
    """Methods that wait take the same rounds whatever the time."""
    mine, theirs = (
        [(r.width, r.physical_width, r.committed, r.candidates, r.origins) for r in x.rounds] for x in (python, native)
    )
    return [] if mine == theirs else ["rounds differ"]


def _different_candidates(python: RunRecord, native: RunRecord) -> list[str]:
    """A free-running source says the same as far as both let it run."""
    both = [_published(record) for record in (python, native)]
    for index, (mine, theirs) in enumerate(zip(*both, strict=False)):
        if mine[0] != theirs[0]:
            return [f"candidate {index} differs: {mine[0]} and {theirs[0]}"]
        if (mine[1] is None) != (theirs[1] is None):
            return [f"candidate {index} has a confidence in one runner only"]
        if mine[1] is not None and theirs[1] is not None and abs(mine[1] - theirs[1]) > SAME_PROBABILITY:
            return [f"the confidence of candidate {index} differs: {mine[1]} and {theirs[1]}"]
    return []


def _published(record: RunRecord) -> list[tuple[int, float | None]]:
    return [
        pair
        for batch in record.publications
        for pair in zip(batch.tokens, batch.confidences or [None] * len(batch.tokens), strict=True)
    ]


def speed(records: Sequence[RunRecord]) -> dict[str, Any]:
    """Figures of one method on one runner, pooled over its runs; ``None`` where nothing was measured."""
    summaries = [summarise(record) for record in records]
    time_ms = sum(s.elapsed_ms or 0.0 for s in summaries)
    rounds = [r for record in records for r in record.rounds]
    own_ns = [r.end_ns - r.start_ns - r.call_ns for r in rounds]
    whole_ns = sum(r.end_ns - r.start_ns for r in rounds)
    accounts = [s.account for s in summaries if s.account is not None]
    drafting = sum(a.draft_ns for a in accounts)
    return {
        "runs": len(records),
        "tps": sum(s.committed_tokens for s in summaries) / time_ms * 1e3 if time_ms else None,
        "own_us": median(own_ns) / 1e3 if own_ns else None,
        "own_share": sum(own_ns) / whole_ns if whole_ns else None,
        "overlap_share": sum(a.overlap_ns for a in accounts) / drafting if drafting else None,
    }


def native_figures(pairs: Mapping[tuple[str, str], Sequence[Pair]]) -> dict[str, Any]:
    """Everything of the part.

    Args:
        pairs: by drafter (its name, or ``""``) and method.
    """
    rows = []
    found = []
    for (drafter, method), runs in pairs.items():
        found += [f"{p.run_id}: {what}" for p, n in runs for what in differences(p, n)]
        rows.append(
            {
                "drafter": drafter,
                "method": method,
                "python": speed([p for p, _ in runs]),
                "native": speed([n for _, n in runs]),
            }
        )
    records = [record for runs in pairs.values() for record in (*(p for p, _ in runs), *(n for _, n in runs))]
    tests = {r.header.extra.get("runner", "python"): t.exact_widths for r in records for t in r.self_tests}
    if len(set(tests.values())) > 1:
        found.append(f"exact widths differ: {tests}")
    return {
        "windows": len({r.request.audio.window_id for r in records}),
        "runs": len(records),
        "differences": found,
        "exact_widths": {name: list(widths) for name, widths in tests.items()},
        "cores": sorted({f"{role} {engine.cores}" for r in records for role, engine in r.engines.items()}),
        "rows": rows,
    }


def render_native(result: Mapping[str, Any]) -> str:
    """The figures as text for a terminal."""
    lines = [
        f"Native runner against the Python runner: {result['windows']} windows, {result['runs']} runs, in turn; "
        f"measured here, pooled over windows. Cores: {', '.join(result['cores'])}. Load average "
        f"{result['load'][0]:.1f} at the start, {result['load'][1]:.1f} at the end.",
        f"Exact widths: {result['exact_widths']}",
        f"What differs: {len(result['differences'])}",
        *(f"  {what}" for what in result["differences"][:20]),
        "",
        f"{'':30}{'native':>9}{'own µs a round':>20}{'own share':>18}{'overlap':>18}",
        f"{'':30}{'/Python':>9}{'Python   native':>20}{'Python  native':>18}{'Python  native':>18}",
    ]
    for row in result["rows"]:
        python, native = row["python"], row["native"]
        ratio = native["tps"] / python["tps"] if native["tps"] and python["tps"] else None
        lines.append(
            f"{row['method'] + ' ' + row['drafter']:30}{_shown(ratio, '.2f'):>9}"
            f"{_both(python, native, 'own_us', '.1f'):>20}{_both(python, native, 'own_share', '.2%'):>18}"
            f"{_both(python, native, 'overlap_share', '.1%'):>18}"
        )
    lines.append(
        f"Median time of a native round outside MNN calls is wanted under {OWN_WANTED_US:.0f} µs; rounds of the "
        "serial methods include both hand-overs between target's and drafter's thread."
    )
    return "\n".join(lines)


def _both(python: Mapping[str, Any], native: Mapping[str, Any], name: str, form: str) -> str:
    return f"{_shown(python[name], form)} {_shown(native[name], form):>8}"


def _shown(value: float | None, form: str) -> str:
    return "n/a" if value is None else format(value, form)
