"""What happened in one round? The root, every candidate and its fate, the cursor's moves, the width and the cost."""

from collections.abc import Mapping
from dataclasses import dataclass

from as2d_core.alignment import CORRECTION_PAIR, INSERTION, MATCH, NEXT_TOKEN, RULE_NAMES, STOP, UNMATCHED
from as2d_core.profiles import Profile
from as2d_core.records import Publication, Round, RunRecord
from as2d_core.request import Request
from dashboard.views import moves, text

FATES = ("accepted", "reused", "rejected", "set aside", "retired", "matched")
"""accepted: matched the target; reused: the same, after an earlier rejection; rejected: the first mismatch;
set aside: behind it, not compared; retired: passed over by the cursor; matched: the same token as one that
the target had committed already."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One token. ``text`` is plain text with everything invisible made visible; it is not yet escaped."""

    text: str
    fate: str
    index: int | None = None
    """Index among the candidates of the source; ``None`` in serial methods."""
    confidence: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """One step of alignment."""

    rule: str
    before: int
    after: int
    explanation: str


@dataclass(frozen=True, slots=True)
class RoundDetails:
    """Everything about one round; times in ms from decode start."""

    index: int
    total: int
    start_ms: float
    end_ms: float
    width: int
    physical_width: int
    proposed: int
    accepted: int
    root: Chip | None
    """Known root; ``None`` when the tokens before this round are not in the record."""
    passed: tuple[Chip, ...]
    """Candidates that alignment moved past before this round: matched or retired."""
    chips: tuple[Chip, ...]
    outcome: str
    """``correction``, ``bonus``, ``next token`` or ``end of output``."""
    next: Chip | None
    """The target's own token; ``None`` when the output ended inside the chain."""
    cursor: tuple[int, int] | None
    """Read cursor before and after; ``None`` in serial methods."""
    moves: tuple[Move, ...]
    ready: int
    width_reason: str
    source_running: bool
    call_ms: float
    cost_ms: float
    """From the boundary to the end of the round, drafting of serial methods included."""
    target_ms: float
    """The target's part of it: what a profile's cost is compared with."""
    profile_cost_ms: float | None
    profile_note: str
    """What the profile's cost covers, or why there is none."""

    @property
    def cost_difference(self) -> float | None:
        """The target's part against the profile's cost, in percent."""
        return None if not self.profile_cost_ms else (self.target_ms / self.profile_cost_ms - 1) * 100


def round_details(
    record: RunRecord, index: int, profile: Profile | None = None, total: int | None = None
) -> RoundDetails | None:
    """Everything about the round with that index; ``None`` when the record does not hold it.

    ``total`` is the number of rounds of the run, where the record holds only some of them.
    """
    row = next((i for i, item in enumerate(record.rounds) if item.index == index), None)
    if row is None:
        return None
    item = record.rounds[row]
    start = record.marks.get("decode_start")
    origin = start.time_ns if start is not None else record.rounds[0].start_ns
    decoupled = record.request.method == "as2d"
    chain_start = moves.chain_start(item)
    ready = max(item.visible - chain_start, 0)
    outcome, own = _outcome(item)
    cost, note = _profile_cost(item, record.request, profile)
    target_start = min(
        (s.start_ns for s in record.spans if s.lane == "target" and s.round == index), default=item.start_ns
    )
    return RoundDetails(
        index=index,
        total=len(record.rounds) if total is None else total,
        start_ms=(item.start_ns - origin) / 1e6,
        end_ms=(item.end_ns - origin) / 1e6,
        width=item.width,
        physical_width=item.physical_width,
        proposed=item.proposed,
        accepted=item.accepted,
        root=_root(record, row),
        passed=_passed(record, item) if decoupled else (),
        chips=_chips(record, row, chain_start if decoupled else None),
        outcome=outcome,
        next=None if own is None else Chip(text.alone(own, record.pieces), outcome),
        cursor=(item.cursor_before, item.cursor_after) if decoupled else None,
        moves=tuple(_move(*step) for step in moves.moves_of(item)),
        ready=ready,
        width_reason=_width_sentence(item, record.request, ready),
        source_running=item.source_running,
        call_ms=item.call_ns / 1e6,
        cost_ms=(item.end_ns - item.start_ns) / 1e6,
        target_ms=(item.end_ns - target_start) / 1e6,
        profile_cost_ms=cost,
        profile_note=note,
    )


def _root(record: RunRecord, row: int) -> Chip | None:
    """The last token committed before the round."""
    for earlier in reversed(record.rounds[:row]):
        if earlier.committed:
            return Chip(text.alone(earlier.committed[-1], record.pieces), "accepted")
    start = record.marks.get("decode_start")
    if row == 0 and start is not None and start.token is not None:
        return Chip(text.alone(start.token, record.pieces), "accepted", note="selected by prefill")
    return None


def _outcome(item: Round) -> tuple[str, int | None]:
    if len(item.committed) <= item.accepted:
        return "end of output", None
    own = item.committed[item.accepted]
    if item.proposed == 0:
        return "next token", own
    return ("correction" if item.accepted < item.proposed else "bonus"), own


def _chips(record: RunRecord, row: int, chain_start: int | None) -> tuple[Chip, ...]:
    item = record.rounds[row]
    known = {} if chain_start is None else _confidences(record.publications, chain_start, len(item.candidates))
    chips = []
    for i, token in enumerate(item.candidates):
        fate, note = "accepted", ""
        if i < item.accepted:
            if item.origins[i : i + 1] == "r":
                fate, note = "reused", "drafted before an earlier rejection"
        elif i == item.accepted:
            fate, note = "rejected", "the target chose another token"
        else:
            fate = "set aside"
            note = _later(record, row, None if chain_start is None else chain_start + i)
        position = None if chain_start is None else chain_start + i
        chips.append(Chip(text.alone(token, record.pieces), fate, position, known.get(i), note))
    return tuple(chips)


def _confidences(batches: list[Publication], first: int, count: int) -> Mapping[int, float]:
    found: dict[int, float] = {}
    for batch in batches:
        if (
            not isinstance(batch.confidences, tuple | list)
            or batch.offset + len(batch.tokens) <= first
            or batch.offset >= first + count
        ):
            continue
        for i, confidence in enumerate(batch.confidences):
            if isinstance(confidence, int | float) and first <= batch.offset + i < first + count:
                found[batch.offset + i - first] = confidence
    return found


def _later(record: RunRecord, row: int, candidate: int | None) -> str:
    """What became of a candidate behind a rejection."""
    if candidate is None:
        following = record.rounds[row + 1 : row + 2]
        taken = following[0].origins.count("r") if following else 0
        return f"behind the rejection; the next draft took over {taken} of them" if taken else "behind the rejection"
    for item in record.rounds[row + 1 :]:
        start = item.cursor_before
        for rule, before, after in moves.moves_of(item):
            if before <= candidate < after:
                used = candidate >= after - moves.used_by(rule)
                return f"{'matched' if used else 'retired'} by alignment before round {item.index}"
            start = after
        if start <= candidate < start + item.proposed:
            return f"proposed again in round {item.index}"
    return "not looked at again"


def _passed(record: RunRecord, item: Round) -> tuple[Chip, ...]:
    """Candidates between the cursor before and after alignment, with what alignment made of them."""
    steps = moves.moves_of(item)
    if not steps:
        return ()
    first, last = steps[0][1], steps[-1][2]
    tokens: dict[int, int] = {}
    for batch in record.publications:
        for i in range(max(first - batch.offset, 0), min(last - batch.offset, len(batch.tokens))):
            tokens[batch.offset + i] = batch.tokens[i]
    chips = []
    for rule, before, after in steps:
        for candidate in sorted(index for index in tokens if before <= index < after):
            fate = "matched" if candidate >= after - moves.used_by(rule) else "retired"
            chips.append(Chip(text.alone(tokens[candidate], record.pieces), fate, candidate, note=rule))
    return tuple(chips)


_EXPLANATIONS = {
    RULE_NAMES[STOP]: "the token after the correction is needed first, so the target goes alone",
    RULE_NAMES[MATCH]: "the candidate is the committed token",
    RULE_NAMES[INSERTION]: "the target said one token more; the candidate stayed eligible",
    RULE_NAMES[NEXT_TOKEN]: "the committed token was found further on; what lay before it is retired",
    RULE_NAMES[CORRECTION_PAIR]: "correction and continuation were found at the edge of the search window",
    RULE_NAMES[UNMATCHED]: "nothing within the search window fits; the committed token is passed over",
}


def _move(rule: str, before: int, after: int) -> Move:
    return Move(rule, before, after, _EXPLANATIONS.get(rule, "a rule that this version does not know"))


def _width_sentence(item: Round, request: Request, ready: int) -> str:
    """Why K was what it was, in words; a reason that this version does not know is given as it is."""
    threshold = "the threshold" if request.threshold is None else f"the threshold of {request.threshold:g}"
    cap = {"as2d": f"the budget b = {request.budget}", "specasr": f"the cap of {request.draft_cap}"}.get(
        request.method, "the cap"
    )
    return {
        "budget": f"as many candidates as {cap} allows",
        "ready": f"only {ready} candidates were published; the target does not wait for more",
        "confidence": f"stopped after a candidate whose confidence is below {threshold}",
        "cheapest": f"of {ready} ready candidates this many cost least per expected token (width rule)",
        "output cap": f"the output cap of {request.max_tokens} tokens left no more room",
        "awaiting target token": "alignment needs the next target token, so nothing could be proposed",
        "no candidates": "no candidate was published beyond the cursor",
        "target-only": "the method never proposes",
        "drafter end": "the drafter reached its end of text",
        "fixed width": f"the width is fixed at K = {request.width}",
    }.get(item.width_reason, item.width_reason)


def _profile_cost(item: Round, request: Request, profile: Profile | None) -> tuple[float | None, str]:
    """What the profile charges for the target's part of this round; drafting of serial rounds is not in it."""
    if profile is None:
        return None, "this device is not calibrated"
    if request.method == "target-only":
        return profile.target_step_ms, f"one target-only step by {profile.name}"
    table = profile.verify_concurrent_ms if item.source_running else profile.verify_idle_ms
    beside = "beside a running drafter" if item.source_running else "with the drafter at rest"
    if item.width not in table:
        return None, f"{profile.name} has no cost for K = {item.width} {beside}"
    return table[item.width] + profile.loop_ms, f"K = {item.width} {beside} plus the loop, by {profile.name}"
