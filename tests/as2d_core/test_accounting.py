from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from as2d_core.accounting import DRAFTER_WORK, TARGET_WORK, account, boundaries, intersect, length, merge, summarise
from as2d_core.protocol import Writer, parse
from as2d_core.records import SPAN_KINDS, Mark, Round, RunHeader, RunRecord, Span
from as2d_core.request import AudioRef, ModelRef, Request


@st.composite
def spans(draw):
    lane = draw(st.sampled_from(["drafter", "target"]))
    start = draw(st.integers(0, 60))
    return Span(lane, draw(st.sampled_from(SPAN_KINDS)), start, start + draw(st.integers(0, 20)))


intervals = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1])), max_size=8)


def ticks(many, start=0, end=100):
    """The nanoseconds that a list of intervals covers."""
    return {tick for a, b in many for tick in range(max(a, start), min(b, end))}


def covered(many, lane, works, start, end):
    return ticks([(s.start_ns, s.end_ns) for s in many if s.lane == lane and s.work in works], start, end)


@given(st.lists(spans(), max_size=20), st.integers(0, 40), st.integers(0, 60))
def test_every_nanosecond_is_drafting_verification_both_or_neither(many, start, duration):
    end = start + duration
    whole = account(many, start, end)
    drafting = covered(many, "drafter", DRAFTER_WORK, start, end)
    verifying = covered(many, "target", TARGET_WORK, start, end)
    assert whole.total_ns == duration
    assert whole.draft_ns == len(drafting)
    assert whole.verify_ns == len(verifying)
    assert whole.overlap_ns == len(drafting & verifying)
    assert whole.idle_ns == duration - len(drafting | verifying)


@given(st.lists(spans(), max_size=20), st.integers(0, 40), st.integers(0, 60))
def test_total_is_draft_plus_verify_minus_overlap_plus_idle_and_never_below_its_bound(many, start, duration):
    whole = account(many, start, start + duration)
    assert whole.total_ns == whole.draft_ns + whole.verify_ns - whole.overlap_ns + whole.idle_ns
    # What a better schedule could still put side by side, and no more.
    assert whole.total_ns - whole.bound_ns == min(whole.draft_ns, whole.verify_ns) - whole.overlap_ns
    assert 0 <= whole.overlap_ns <= min(whole.draft_ns, whole.verify_ns)
    assert whole.idle_ns >= 0


@given(st.lists(spans(), max_size=12))
def test_spans_of_one_stage_are_merged_before_they_are_summed(many):
    assert account([*many, *many], 0, 100) == account(many, 0, 100)


@given(intervals)
def test_merged_intervals_are_sorted_disjoint_and_cover_the_same(raw):
    merged = merge([Span("target", "verify", a, b) for a, b in raw], 0, 100)
    assert all(a[1] < b[0] for a, b in pairwise(merged))
    assert ticks(merged) == ticks(raw)
    assert length(merged) == len(ticks(raw))


@given(intervals, intervals)
def test_intersection_covers_what_both_cover(a, b):
    first, second = (merge([Span("target", "verify", *i) for i in many], 0, 100) for many in (a, b))
    assert ticks(intersect(first, second)) == ticks(a) & ticks(b)


def test_share_of_overlap_without_drafting_is_not_available():
    assert account([Span("target", "step", 0, 5)], 0, 10).overlap_share is None
    assert account([Span("drafter", "draft", 0, 4), Span("target", "step", 2, 10)], 0, 10).overlap_share == 0.5


def record(*events, status="eos", method="as2d"):
    """A complete record of the given events."""
    lines = []
    writer = Writer(lines.append)
    request = Request("run", method, ModelRef("target"), AudioRef("audio"))
    writer.add(RunHeader(1, "run", request, {}, {}, "virtual"))
    for event in events:
        writer.add(event)
    writer.end(status, 0)
    return parse(lines)


def one_round(index, start_ns, end_ns, committed, proposed=0, accepted=0, call_ns=0):
    return Round(
        index=index,
        start_ns=start_ns,
        end_ns=end_ns,
        width=proposed + 1,
        physical_width=proposed + 1,
        proposed=proposed,
        accepted=accepted,
        committed=committed,
        candidates=tuple(range(proposed)),
        origins="d" * proposed,
        cursor_before=0,
        cursor_after=0,
        visible=0,
        source_running=False,
        width_reason="budget",
        call_ns=call_ns,
    )


START = Mark("decode_start", 1_000_000, 7)


def test_summary_of_a_complete_run():
    run = record(
        Mark("request", 0),
        START,
        one_round(0, 1_000_000, 3_000_000, (8, 9), 2, 1, call_ns=1_500_000),
        one_round(1, 3_000_000, 5_000_000, (2,), call_ns=1_000_000),
        Mark("eos", 5_000_000),
        Mark("drained", 6_000_000),
    )
    summary = summarise(run)
    assert (summary.status, summary.committed_tokens) == ("eos", 4)
    assert (summary.elapsed_ms, summary.response_ms, summary.tps) == (5.0, 5.0, 800.0)
    assert (summary.rounds, summary.k1_rounds, summary.proposed, summary.accepted) == (2, 1, 2, 1)
    assert summary.own_ms_per_round == 0.75


def test_run_that_broke_off_ends_with_its_last_work_and_has_no_throughput():
    drafting = Span("drafter", "draft", 0, 4_000_000)
    run = record(START, one_round(0, 1_000_000, 3_000_000, (8,)), drafting, status="failed")
    assert boundaries(run) == (1_000_000, 4_000_000)
    summary = summarise(run)
    assert summary.elapsed_ms == 3.0
    assert (summary.tps, summary.response_ms) == (None, None)


def test_incomplete_run_has_no_throughput():
    run = record(START, Mark("eos", 5_000_000))
    run.problems.append("3: something")
    assert summarise(run).tps is None


def test_run_that_never_decoded_has_no_figures():
    summary = summarise(record(Mark("request", 0), status="failed"))
    assert (summary.elapsed_ms, summary.tps, summary.account, summary.own_ms_per_round) == (None,) * 4
    assert summary.committed_tokens == 0


def test_run_that_took_no_time_has_no_throughput():
    assert summarise(record(START, Mark("eos", START.time_ns))).tps is None


def test_operation_is_no_decoding_run():
    summary = summarise(record(START, Mark("eos", 5_000_000), method="calibrate"))
    assert (summary.elapsed_ms, summary.tps, summary.account) == (None, None, None)


def test_drain_counts_as_drafting_and_waiting_as_neither():
    run = RunRecord(
        RunHeader(1, "run", Request("run", "as2d", ModelRef("t"), AudioRef("a")), {}, {}, "virtual"),
        spans=[Span("target", "verify", 1_000_000, 2_000_000), Span("drafter", "drain", 3_000_000, 4_000_000)],
        marks={"decode_start": START, "eos": Mark("eos", 3_000_000), "drained": Mark("drained", 4_000_000)},
    )
    whole = summarise(run).account
    assert (whole.total_ns, whole.draft_ns) == (3_000_000, 1_000_000)
    assert (whole.verify_ns, whole.idle_ns) == (1_000_000, 1_000_000)
