"""Every method end to end on the bundled models: same output, whole records, the decisions of the paper."""

import pytest
from round_rules import Expected, expected_rounds

from as2d_core.accounting import account, boundaries
from as2d_core.validation import check_record

pytestmark = pytest.mark.models

WINDOWS = ("clean_00", "fast_07", "clean_03-translate", "far_field_03-question")
CASES = {
    "target-only": ("target-only", {}),
    "plain K=1": ("target-only", {"plain_step": True}),
    "SD K=2": ("sd", {"width": 2}),
    "SD K=5": ("sd", {"width": 5}),
    "SD K=8": ("sd", {"width": 8}),
    "SpecASR 7": ("specasr", {"draft_cap": 7}),
    "SpecASR 14": ("specasr", {"draft_cap": 14}),
    "As2d b=1": ("as2d", {"budget": 1}),
    "As2d b=3": ("as2d", {"budget": 3}),
    "As2d b=7": ("as2d", {"budget": 7}),
    "As2d b=15": ("as2d", {"budget": 15}),
    "As2d b=7, paced": ("as2d", {"budget": 7, "drafter_pace_ms": 6.0}),
    "As2d b=7, no threshold": ("as2d", {"budget": 7, "threshold": None}),
    "As2d b=7, narrow search": ("as2d", {"budget": 7, "search_window": 1, "batch_tokens": 3}),
    "As2d b=7, output cap": ("as2d", {"budget": 7, "max_tokens": 17}),
    "SD K=5, output cap": ("sd", {"width": 5, "max_tokens": 17}),
}
AS2D = [name for name, (method, _) in CASES.items() if method == "as2d"]
SERIAL = [name for name, (method, _) in CASES.items() if method != "as2d"]


@pytest.fixture(scope="module")
def record_of(runner, ask, exact_widths):
    """The record of one case on one window, run once."""
    known = {}
    widest = exact_widths[-1]
    if widest < 2:
        pytest.skip("no two widths are bit-equal on this processor, so that nothing may be verified")

    def record(case, window):
        if (case, window) not in known:
            method, fields = CASES[case]
            fields = dict(fields)
            for name, most in (("width", widest), ("draft_cap", widest - 1), ("budget", widest - 1)):
                if name in fields:
                    fields[name] = min(fields[name], most)
            known[case, window] = runner.run(ask(method, window, **fields))
        return known[case, window]

    return record


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", CASES)
def test_a_method_changes_speed_and_never_the_output(case, window, record_of, reference):
    cap = CASES[case][1].get("max_tokens", 320)
    assert tuple(record_of(case, window).tokens) == reference(window)[:cap]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", CASES)
def test_a_record_is_whole_and_keeps_its_own_rules(case, window, record_of):
    record = record_of(case, window)
    assert (record.problems, check_record(record), record.unknown) == ([], [], {})


@pytest.mark.parametrize("case", CASES)
def test_a_run_ends_with_eos_or_at_the_cap_and_says_which(case, record_of):
    record = record_of(case, "fast_07")
    capped = "max_tokens" in CASES[case][1]
    assert record.status == ("capped" if capped else "eos")


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", CASES)
def test_the_time_of_a_run_is_d_plus_v_minus_o_plus_h(case, window, record_of):
    record = record_of(case, window)
    start_ns, end_ns = boundaries(record)
    parts = account(record.spans, start_ns, end_ns)
    assert end_ns - start_ns == parts.draft_ns + parts.verify_ns - parts.overlap_ns + parts.idle_ns
    assert parts.total_ns >= parts.bound_ns


@pytest.mark.parametrize("case", SERIAL)
def test_a_serial_method_overlaps_nothing(case, record_of):
    record = record_of(case, "fast_07")
    assert account(record.spans, *boundaries(record)).overlap_ns == 0


@pytest.mark.parametrize("case", ["As2d b=7, paced"])
def test_a_target_decoupled_drafter_works_at_the_same_time(case, record_of):
    record = record_of(case, "fast_07")
    assert account(record.spans, *boundaries(record)).overlap_ns > 0


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", AS2D)
def test_a_round_aligns_chains_and_commits_by_the_paper(case, window, record_of):
    record = record_of(case, window)
    seen = [
        Expected(r.cursor_before, r.cursor_after, r.moves, r.candidates, r.accepted, r.committed) for r in record.rounds
    ]
    assert seen == expected_rounds(record)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", AS2D)
def test_a_round_sees_exactly_what_had_been_received(case, window, record_of):
    record = record_of(case, window)
    for item in record.rounds:
        received = [b for b in record.publications if b.received_ns is not None and b.received_ns <= item.start_ns]
        assert item.visible == sum(len(b.tokens) for b in received), item.index


@pytest.mark.parametrize("case", AS2D)
def test_candidates_do_not_depend_on_what_the_target_says(case, record_of):
    longest = record_of("As2d b=1", "fast_07").candidates
    seen = record_of(case, "fast_07").candidates
    assert seen == longest[: len(seen)] or longest == seen[: len(longest)]


@pytest.mark.parametrize("case", AS2D)
def test_the_last_publication_that_was_used_came_before_the_end(case, record_of):
    record = record_of(case, "fast_07")
    eos = record.marks["eos"].time_ns
    assert all(b.received_ns is None or b.received_ns <= eos for b in record.publications)


def test_a_paced_drafter_is_not_faster_than_its_pace(record_of):
    record = record_of("As2d b=7, paced", "fast_07")
    for span in record.spans:
        if span.lane == "drafter" and span.work == "draft":
            assert span.end_ns - span.start_ns >= span.operations * 6.0e6


def test_standard_sd_drafts_its_whole_width_unless_the_cap_cuts_it(record_of):
    record = record_of("SD K=5, output cap", "fast_07")
    widths = [item.width for item in record.rounds]
    assert set(widths[:-2]) == {5}
    assert max(widths) == 5


def test_specasr_stops_after_the_first_token_of_low_confidence_or_at_its_cap(record_of):
    record = record_of("SpecASR 7", "fast_07")
    assert {item.width_reason for item in record.rounds} <= {"budget", "confidence", "drafter end"}
    assert max(item.proposed for item in record.rounds) == 7


def test_the_record_says_what_really_ran(record_of, exact_widths):
    record = record_of("As2d b=3", "clean_00")
    target, drafter = record.engines["target"], record.engines["drafter"]
    assert (target.backend, target.precision, target.memory, target.widths) == ("cpu", "high", "high", exact_widths)
    assert (drafter.model, drafter.threads, drafter.widths) == ("drafter", 1, (1,))


def test_every_token_of_a_record_has_its_text(record_of):
    record = record_of("As2d b=7", "clean_03-translate")
    assert {*record.tokens, *record.candidates} <= set(record.pieces)
