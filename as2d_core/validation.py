"""Does a run record keep its own rules? What the protocol cannot see line by line is checked here.

A record can be whole (every line reads, counts and hash match) and still contradict itself: rounds
that overlap, candidates used before they were published, tokens that nobody committed.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import inf
from pathlib import Path

from as2d_core.accounting import account, boundaries
from as2d_core.calibration.plan import TRYING
from as2d_core.errors import RecordError
from as2d_core.event import Event
from as2d_core.protocol import MAX_LINE_BYTES, RecordBuilder, open_lines
from as2d_core.records import LANES, MARKS, SOURCES, SPAN_KINDS, STATUSES, WIDTH_REASONS, Round, RunRecord
from as2d_core.request import METHODS, OPERATIONS
from as2d_core.runner.job import TESTED, TESTING

Finding = tuple[int | None, str]
"""Line number (``None`` for the record as a whole) and what is wrong."""
_Complaint = tuple[Event | None, str]


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one run file."""

    record: RunRecord | None
    """``None`` when nothing could be attributed to a run."""
    findings: tuple[Finding, ...]
    """In the order of the lines; empty for a whole record that keeps all rules."""
    lines: int
    counts: dict[str, int] = field(default_factory=dict)
    """Lines of every kind."""


def check_file(path: Path) -> Report:
    """Read one run file and check everything about it; never raises for what the file holds."""
    builder = RecordBuilder()
    lines: dict[int, int] = {}
    counts: Counter[str] = Counter()
    try:
        with open_lines(path) as file:
            while text := file.readline(MAX_LINE_BYTES + 1):
                event = builder.feed(text)
                if event is not None:
                    lines[id(event)] = builder.lines
                    counts[str(getattr(event, "name", "unknown")) if event.kind == "unknown" else event.kind] += 1
                if not text.endswith("\n"):
                    break  # cut off, or longer than any event: what follows is no line of its own
        record = builder.finish()
    except RecordError as error:
        return Report(None, ((error.line or 1, str(error)),), builder.lines)
    except (FileNotFoundError, ValueError):  # or text that can be no path
        return Report(None, ((1, "there is no such file"),), 0)
    except OSError as error:
        return Report(None, ((1, f"the file cannot be read ({error.strerror or error})"),), 0)
    if record.problems:
        findings = [_split(problem) for problem in record.problems]
    else:
        findings = check_record(record, lambda event: lines.get(id(event)))
    return Report(record, tuple(findings), builder.lines, dict(counts))


def check_record(record: RunRecord, line_of: Callable[[Event], int | None] = lambda _: None) -> list[Finding]:
    """Check the inner rules of a record.

    Args:
        line_of: line number of an event of the record, if it is known.

    Returns:
        Everything that is wrong, in the order of the lines; empty when nothing is.
    """
    found: list[Finding] = []
    rules = (_names, _times, _rounds, _publications, _use_of_candidates, _tokens, _text, _accounts)
    for rule in rules:
        try:
            found += [(None if event is None else line_of(event), sentence) for event, sentence in rule(record)]
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            found.append((None, f"a value has the wrong type or size ({error})"))
    return sorted(found, key=lambda item: (item[0] is None, item[0] or 0))


def _split(problem: str) -> Finding:
    number, _, sentence = problem.partition(": ")
    return (int(number), sentence) if number.isdigit() else (None, problem)


def _names(record: RunRecord) -> Iterator[_Complaint]:
    """Words from closed lists."""
    for span in record.spans:
        if span.lane not in LANES:
            yield span, f"the lane {span.lane!r} is none of {', '.join(LANES)}"
        if span.work not in SPAN_KINDS:
            yield span, f"{span.work!r} is no kind of work a span can be"
    for item in record.rounds:
        if item.width_reason not in WIDTH_REASONS:
            yield item, f"round {item.index} gives {item.width_reason!r} as the reason of its width, which is none"
    for mark in record.marks.values():
        if mark.name not in (*MARKS, TESTED) and not mark.name.startswith((TRYING, TESTING)):
            yield mark, f"there is no mark {mark.name!r}"
    if record.end is not None and record.end.status not in STATUSES:
        yield record.end, f"the status {record.end.status!r} is none of {', '.join(STATUSES)}"
    if record.request.method not in METHODS + OPERATIONS:
        yield record.header, f"the method {record.request.method!r} is none of {', '.join(METHODS + OPERATIONS)}"
    if record.header.source not in SOURCES:
        yield record.header, f"the source {record.header.source!r} is none of {', '.join(SOURCES)}"
    if record.header.run_id != record.request.run_id:
        yield record.header, "the run id of the header is not that of its request"


def _times(record: RunRecord) -> Iterator[_Complaint]:
    """Marks come in their order, and rounds lie between them."""
    marks = [record.marks[name] for name in MARKS if name in record.marks]
    for before, after in pairwise(marks):
        if after.time_ns < before.time_ns:
            yield after, f"the mark {after.name} lies before the mark {before.name}"
    start, eos = record.marks.get("decode_start"), record.marks.get("eos")
    rounds = record.rounds
    if rounds and start is None:
        yield rounds[0], "there is a round, but decoding never began (no mark decode_start)"
    elif rounds and start is not None and rounds[0].start_ns < start.time_ns:
        yield rounds[0], f"round {rounds[0].index} starts before decoding does"
    if rounds and eos is not None and rounds[-1].end_ns > eos.time_ns:
        yield rounds[-1], f"round {rounds[-1].index} ends after the output was complete"
    if record.status in ("eos", "capped") and record.request.method in METHODS and len(marks) < len(MARKS):
        missing = [name for name in MARKS if name not in record.marks]
        yield record.end, f"the run is complete, but lacks the mark {missing[0]}"


def _rounds(record: RunRecord) -> Iterator[_Complaint]:
    """Every round follows the one before it and is consistent in itself."""
    previous: Round | None = None
    for number, item in enumerate(record.rounds):
        name = f"round {item.index}"
        if item.index != number:
            yield item, f"{name} stands where round {number} is expected"
        if previous is not None:
            if item.start_ns < previous.end_ns:
                yield item, f"{name} starts before round {previous.index} has ended"
            if item.cursor_before != previous.cursor_after:
                yield item, f"{name} begins with the cursor at {item.cursor_before}, not at {previous.cursor_after}"
        if item.proposed > item.width - 1:
            yield item, f"{name} proposes {item.proposed} candidates in a width of {item.width}"
        if item.width > item.physical_width:
            yield item, f"{name} has the width {item.width}, but only {item.physical_width} rows were computed"
        if len(item.candidates) != item.proposed or len(item.origins) != item.proposed:
            yield item, f"{name} proposes {item.proposed} candidates, but lists {len(item.candidates)}"
        if item.accepted > item.proposed:
            yield item, f"{name} accepts {item.accepted} of {item.proposed} candidates"
        elif item.committed[: item.accepted] != item.candidates[: item.accepted]:
            yield item, f"{name} does not commit the candidates that it accepts"
        if not item.accepted <= len(item.committed) <= item.accepted + 1 or not item.committed:
            yield item, f"{name} commits {len(item.committed)} tokens after accepting {item.accepted}"
        if not item.cursor_before <= item.cursor_after <= max(item.visible, item.cursor_before):
            moved = f"from {item.cursor_before} to {item.cursor_after} of {item.visible}"
            yield item, f"{name} moves the cursor {moved} visible candidates"
        previous = item


def _publications(record: RunRecord) -> Iterator[_Complaint]:
    """Batches follow each other, in place and in time."""
    end = 0
    time_ns = 0
    for batch in record.publications:
        if batch.offset != end:
            yield batch, f"a publication starts at candidate {batch.offset}, where {end} is expected"
        if batch.confidences is not None and len(batch.confidences) != len(batch.tokens):
            yield batch, f"a publication has {len(batch.tokens)} tokens and {len(batch.confidences)} confidences"
        if batch.time_ns < time_ns:
            yield batch, f"the publication at candidate {batch.offset} is older than the one before it"
        if batch.received_ns is not None and batch.received_ns < batch.time_ns:
            yield batch, f"the publication at candidate {batch.offset} was received before it was published"
        end, time_ns = batch.offset + len(batch.tokens), batch.time_ns


def _use_of_candidates(record: RunRecord) -> Iterator[_Complaint]:
    """As²d verifies only what had been published and received, in the source's order."""
    if record.request.method != "as2d":
        return
    candidates = record.candidates
    times = [batch.received_ns for batch in record.publications for _ in batch.tokens]
    # When the last of the first i + 1 candidates had come in.
    received = list(accumulate((inf if time_ns is None else time_ns for time_ns in times), max))
    for item in record.rounds:
        name = f"round {item.index}"
        begin = item.cursor_after - item.accepted
        end = begin + item.proposed
        if item.visible > len(candidates) or end > item.visible:
            yield item, f"{name} uses candidates up to {end} with {min(item.visible, len(candidates))} published"
            continue
        if item.visible and received[item.visible - 1] > item.start_ns:
            yield item, f"{name} sees {item.visible} candidates, which had not all been received when it began"
        if item.proposed and tuple(candidates[begin:end]) != item.candidates:
            yield item, f"{name} verifies other candidates than were published at {begin}"


def _tokens(record: RunRecord) -> Iterator[_Complaint]:
    """As many tokens as the end line says; EOS last, once, and never a candidate of the source."""
    end, tokens = record.end, record.tokens
    if end is None or record.request.method not in METHODS:
        return
    if len(tokens) != end.tokens:
        yield end, f"the end line counts {end.tokens} tokens, the rounds committed {len(tokens)}"
    if end.status == "capped" and len(tokens) != record.request.max_tokens:
        yield end, f"the run is capped at {record.request.max_tokens} tokens, but has {len(tokens)}"
    if end.status != "eos" or not tokens:
        return
    eos = tokens[-1]
    if eos in tokens[:-1]:
        yield end, f"EOS (token {eos}) is not only the last token"
    for batch in record.publications:
        if eos in batch.tokens:
            yield batch, f"the publication at candidate {batch.offset} holds EOS (token {eos})"


def _text(record: RunRecord) -> Iterator[_Complaint]:
    """The text of the output is that of its tokens, where the record holds pieces."""
    if not record.pieces or record.end is None:
        return
    start = record.marks.get("decode_start")
    used: list[tuple[Event, tuple[int, ...]]] = [] if start is None else [(start, (start.token or 0,))]
    used += [(item, (*item.committed, *item.candidates)) for item in record.rounds]
    used += [(batch, batch.tokens) for batch in record.publications]
    for event, tokens in used:
        missing = next((token for token in tokens if token not in record.pieces), None)
        if missing is not None:
            yield event, f"the text of token {missing} is not in the record"
            return
    if record.request.method not in METHODS:
        return  # an operation leaves no rounds that its output could be read from
    output = record.tokens[:-1] if record.end.status == "eos" else record.tokens
    text = b"".join(record.pieces[token] for token in output).decode("utf-8", "replace")
    if record.end.text is not None and record.end.text != text:
        yield record.end, "the text of the end line is not that of the committed tokens"


def _accounts(record: RunRecord) -> Iterator[_Complaint]:
    """T = D + V - O + H with no part below zero (equation 8)."""
    limits = boundaries(record)
    if limits is None:
        return
    parts = account(record.spans, *limits)
    whole = parts.draft_ns + parts.verify_ns - parts.overlap_ns + parts.idle_ns
    if parts.total_ns != whole or min(parts.idle_ns, parts.overlap_ns) < 0 or parts.total_ns < parts.bound_ns:
        yield record.end, f"the times do not add up: T = {parts.total_ns} ns, D + V - O + H = {whole} ns"
