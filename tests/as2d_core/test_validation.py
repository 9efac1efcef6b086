from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from as2d_core.engines.scripted import ScriptedSource, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import RunFacts, run_virtually
from as2d_core.protocol import Writer, decode, parse, read_run
from as2d_core.records import Mark
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request
from as2d_core.runner.job import TESTED, TESTING
from as2d_core.validation import check_file, check_record

EOS = 2
COSTS = TargetCosts(50.0, {k: 60.0 + 8 * k for k in range(1, 30)}, {k: 50.0 + 8 * k for k in range(1, 30)}, 10.0)
TOKENS = [*range(10, 50), EOS]
HEARD = [*range(10, 20), 99, *range(20, 50)]  # one token that the target does not say


def run(method="as2d", **values):
    clock = VirtualClock()
    target = ScriptedTarget(clock, TOKENS, EOS, COSTS)
    source = None
    if method == "as2d":
        values.setdefault("budget", 5)
        schedule = autoregressive_schedule(len(HEARD), 8, 20.0, 2.0)
        source = ScriptedSource(clock, HEARD, schedule, [0.9] * len(HEARD), 2.0)
    request = Request("r", method, ModelRef("t"), AudioRef("a"), **values)
    return run_virtually(request, target, source, clock, RunFacts(text=None))


LINES = run().lines


def record():
    return parse(LINES)


def edit(item, **values):
    """Change one event of a record in place of the old one."""
    rec = record()
    for events in (rec.rounds, rec.publications, rec.spans):
        for i, event in enumerate(events):
            if event == item:
                events[i] = replace(item, **values)
    return rec


def sentences(rec):
    return " | ".join(sentence for _, sentence in check_record(rec))


ROUND = next(r for r in record().rounds if r.accepted >= 2)
REJECTING = next(r for r in record().rounds if r.accepted < r.proposed)
BATCH = record().publications[1]


@pytest.mark.parametrize("method", ["target-only", "as2d"])
@pytest.mark.parametrize("cap", [320, 20])
def test_a_real_record_keeps_every_rule(method, cap):
    assert check_record(run(method, max_tokens=cap).record) == []


def test_the_marks_of_a_self_test_of_widths_are_known():
    rec = record()
    for name in (f"{TESTING}1", f"{TESTING}16", TESTED):
        rec.marks[name] = Mark(name, 0)
    assert check_record(rec) == []


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (edit(ROUND, index=99), "round 99 stands where round"),
        (edit(ROUND, start_ns=0, end_ns=1), "starts before round"),
        (edit(ROUND, cursor_before=ROUND.cursor_before + 1), "begins with the cursor at"),
        (edit(ROUND, proposed=ROUND.proposed + 1), "in a width of"),
        (edit(ROUND, physical_width=1), "rows were computed"),
        (edit(ROUND, candidates=ROUND.candidates[:-1]), "but lists"),
        (edit(ROUND, accepted=ROUND.proposed + 1), "accepts"),
        (edit(ROUND, committed=(77, *ROUND.committed[1:])), "does not commit the candidates"),
        (edit(ROUND, committed=(*ROUND.committed, 77)), "tokens after accepting"),
        (edit(ROUND, cursor_after=ROUND.visible + 1), "moves the cursor"),
        (edit(ROUND, width_reason="whim"), "'whim'"),
        (edit(REJECTING, candidates=(*REJECTING.candidates[:-1], 77)), "verifies other candidates"),
        (edit(ROUND, visible=1000), "published"),
        (edit(BATCH, offset=BATCH.offset + 1), "publication starts at candidate"),
        (edit(BATCH, confidences=(0.5,)), "1 confidences"),
        (edit(BATCH, time_ns=0), "older than the one before"),
        (edit(BATCH, received_ns=BATCH.time_ns - 1), "before it was published"),
        (edit(BATCH, received_ns=10**15), "had not all been received"),
        (edit(BATCH, received_ns=None), "had not all been received"),
        (edit(BATCH, tokens=(EOS, *BATCH.tokens[1:])), "holds EOS"),
    ],
)
def test_each_broken_rule_is_named(broken, said):
    assert said in sentences(broken)


def test_a_candidate_that_came_in_while_its_round_ran_already_is_named():
    rec = record()
    item = next(item for item in rec.rounds if item.visible)
    number, batch = next(
        (number, batch)
        for number, batch in enumerate(rec.publications)
        if batch.offset < item.visible <= batch.offset + len(batch.tokens)
    )
    rec.publications[number] = replace(batch, received_ns=item.start_ns)
    assert check_record(rec) == []
    rec.publications[number] = replace(batch, received_ns=item.start_ns + 1)
    assert item.end_ns > item.start_ns + 1
    assert f"round {item.index} sees {item.visible} candidates, which had not all been received" in sentences(rec)


def test_a_token_count_that_is_not_the_rounds_is_named():
    rec = record()
    rec.end = replace(rec.end, tokens=rec.end.tokens + 1)
    assert "the end line counts" in sentences(rec)


def test_a_method_or_a_source_that_there_is_not_is_named():
    rec = record()
    rec.header = replace(rec.header, source="guessed")
    assert "the source 'guessed' is none of measured, replayed, synthetic" in sentences(rec)
    rec.header = replace(rec.header, source="measured", request=replace(rec.request, method="magic"))
    assert "the method 'magic' is none of target-only, sd, " in sentences(rec)


def test_an_eos_inside_the_output_is_named():
    rec = record()
    rec.marks["decode_start"] = replace(rec.marks["decode_start"], token=EOS)
    assert "not only the last token" in sentences(rec)


def test_marks_in_the_wrong_order_are_named():
    rec = record()
    rec.marks["eos"] = replace(rec.marks["eos"], time_ns=rec.marks["drained"].time_ns + 1)
    assert "the mark drained lies before the mark eos" in sentences(rec)


def test_a_complete_run_without_a_mark_is_named():
    rec = record()
    del rec.marks["request"]
    assert "lacks the mark request" in sentences(rec)


def test_a_text_that_is_not_that_of_the_tokens_is_named():
    rec = record()
    rec.pieces.update(dict.fromkeys([*TOKENS, *HEARD], b"x"))
    assert check_record(rec) == []
    rec.end = replace(rec.end, text="y")
    assert "text of the end line" in sentences(rec)


def test_the_output_of_an_operation_is_in_no_rounds():
    rec = record()
    rec.header = replace(rec.header, request=replace(rec.header.request, method="collect"))
    rec.rounds.clear()
    rec.pieces[TOKENS[0]] = b"x"
    rec.publications.clear()
    rec.end = replace(rec.end, text="x, and what else was said")
    assert check_record(rec) == []


def test_a_value_of_the_wrong_type_is_a_finding_and_no_exception():
    rec = record()
    rec.marks["decode_start"] = replace(rec.marks["decode_start"], token=[5])
    rec.rounds[0] = replace(rec.rounds[0], candidates=None)
    assert "wrong type" in sentences(rec)


def test_findings_carry_the_line(tmp_path):
    path = tmp_path / "run.ndjson"
    with path.open("w") as file:
        writer = Writer(file.write)
        for text in LINES[:-1]:
            event = decode(text)
            writer.add(replace(event, visible=1000) if event == ROUND else event)
        writer.end("eos", len(TOKENS))
    number = next(i for i, text in enumerate(LINES, 1) if decode(text) == ROUND)
    assert [line for line, _ in check_file(path).findings] == [number]


def test_a_whole_file_has_no_findings_and_its_counts(tmp_path):
    path = tmp_path / "run.ndjson"
    path.write_text("".join(LINES))
    report = check_file(path)
    assert (report.findings, report.lines) == ((), len(LINES))
    assert report.counts["round"] == len(report.record.rounds)


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, len("".join(LINES)) - 1))
def test_a_file_cut_off_anywhere_has_findings(cut, tmp_path_factory):
    path = tmp_path_factory.mktemp("cut") / "run.ndjson"
    path.write_bytes("".join(LINES).encode()[:cut])
    assert check_file(path).findings


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, len("".join(LINES[:-1])) - 1), byte=st.integers(0, 255))
def test_a_changed_byte_before_the_end_line_is_found(at, byte, tmp_path_factory):
    data = bytearray("".join(LINES).encode())
    if data[at] == byte:
        return
    data[at] = byte
    path = tmp_path_factory.mktemp("byte") / "run.ndjson"
    path.write_bytes(data)
    assert check_file(path).findings


@pytest.mark.parametrize("ending", [b"\r", b"\r\n"])
def test_other_line_ends_are_other_bytes(ending, tmp_path):
    path = tmp_path / "run.ndjson"
    first, second, *others = (line.encode() for line in LINES)
    path.write_bytes(first + second[:-1] + ending + b"".join(others))
    assert check_file(path).findings
    assert read_run(path).status == "incomplete"


@pytest.mark.parametrize("data", [b"", b"\x00" * 3_000_000, b"{" * 100_000, b"\xff\xfe\n" * 10, b'{"kind":"end"}\n'])
def test_any_other_file_has_one_finding_on_a_line(data, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(data)
    report = check_file(path)
    assert report.record is None
    assert len(report.findings) == 1
    assert report.findings[0][0] == 1


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_is_not_there_is_a_finding(name, tmp_path):
    assert len(check_file(tmp_path / name).findings) == 1


@pytest.mark.parametrize("name", ["gone.ndjson", "a\0b", "\ud800"])
def test_a_name_that_can_be_no_file_is_a_finding(name, tmp_path):
    assert check_file(tmp_path / name).findings == ((1, "there is no such file"),)
