import hashlib
import io
import json
from dataclasses import fields
from pathlib import Path

import pytest
from event_cases import BY_TYPE, requests, unknown
from hypothesis import given, settings
from hypothesis import strategies as st

from as2d_core.engines.scripted import ScriptedSource, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import RunFacts, run_virtually
from as2d_core.errors import RecordError
from as2d_core.protocol import (
    MAX_LINE_BYTES,
    RecordBuilder,
    Writer,
    decode,
    encode,
    parse,
    read_run,
    request_from_json,
    request_to_json,
)
from as2d_core.records import EVENT_TYPES, SCHEMA_VERSION, RunHeader, Unknown
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Placement, Request

EOS = 2
DOCS = Path(__file__).parents[2] / "docs" / "runner-protocol.md"


def test_every_kind_of_event_has_examples_here():
    assert set(BY_TYPE) == set(EVENT_TYPES.values())


@settings(max_examples=40)
@pytest.mark.parametrize("cls", list(BY_TYPE), ids=lambda cls: cls.kind)
@given(data=st.data())
def test_event_survives_its_line(cls, data):
    event = data.draw(BY_TYPE[cls])
    line = encode(event)
    assert "\n" not in line
    assert decode(line) == event


@given(unknown)
def test_event_of_an_unknown_kind_is_kept_whole(event):
    assert decode(encode(event)) == event


@given(requests)
def test_request_survives_json(request):
    assert request_from_json(json.loads(json.dumps(request_to_json(request)))) == request


def test_the_documented_request_is_one_and_every_field_of_a_request_is_documented():
    text = DOCS.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith('{"run_id"'))
    assert request_from_json(json.loads(line)).method == "as2d"
    section = text.partition("## A request")[2].partition("## The answer")[0]
    described = (field.name for cls in (Request, ModelRef, AudioRef, Placement) for field in fields(cls))
    assert [name for name in described if f"`{name}`" not in section] == []


def stream():
    """A whole run with every kind of line that a virtual run has, and text that is not ASCII."""
    clock = VirtualClock()
    body = [10, 11, 12, 13]
    costs = TargetCosts(5.0, dict.fromkeys(range(1, 9), 6.0), dict.fromkeys(range(1, 9), 6.0), 1.0)
    request = Request("run", "as2d", ModelRef("target"), AudioRef("audio"), budget=3)
    source = ScriptedSource(clock, body, autoregressive_schedule(4, 2, 2.0, 0.5), [0.9, None, 0.3, 0.5], 0.5)
    target = ScriptedTarget(clock, [*body, EOS], EOS, costs)
    run = run_virtually(request, target, source, clock, RunFacts(text="grün\u2028\u0085 ü"))
    return "".join(run.lines).encode()


def read(data):
    return parse(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape"))


def test_whole_stream_is_complete():
    record = read(stream())
    assert record.problems == []
    assert record.status == "eos"


def test_stream_cut_at_any_byte_is_incomplete():
    data = stream()
    header = data.index(b"\n") + 1
    for end in range(len(data)):
        if end < header:
            with pytest.raises(RecordError):
                read(data[:end])
        else:
            record = read(data[:end])
            assert record.status == "incomplete", f"cut at byte {end}"
            assert record.problems


@settings(max_examples=300)
@given(st.data())
def test_stream_with_any_changed_byte_before_its_end_is_incomplete(data):
    whole = stream()
    last = whole.rstrip(b"\n").rindex(b"\n")
    position = data.draw(st.integers(0, last - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[position] and b not in b"\r\n"))
    changed = whole[:position] + bytes([byte]) + whole[position + 1 :]
    try:
        record = read(changed)
    except RecordError:
        return
    assert record.status == "incomplete"


@given(st.data())
def test_stream_without_any_one_of_its_lines_is_incomplete(data):
    lines = stream().splitlines(keepends=True)
    dropped = data.draw(st.integers(1, len(lines) - 1))
    assert read(b"".join(lines[:dropped] + lines[dropped + 1 :])).status == "incomplete"


@given(st.data())
def test_stream_with_two_lines_exchanged_is_incomplete(data):
    lines = stream().splitlines(keepends=True)
    a, b = sorted(data.draw(st.lists(st.integers(1, len(lines) - 1), min_size=2, max_size=2, unique=True)))
    lines[a], lines[b] = lines[b], lines[a]
    assert read(b"".join(lines)).status == "incomplete"


def test_damaged_line_is_named_and_the_rest_is_kept():
    lines = stream().splitlines(keepends=True)
    whole = read(b"".join(lines))
    lines[4] = lines[4][:10] + b"\n"
    record = read(b"".join(lines))
    assert any(problem.startswith("5: not a whole line of JSON") for problem in record.problems)
    kept = [len(r.rounds) + len(r.spans) + len(r.publications) + len(r.marks) for r in (whole, record)]
    assert kept[1] == kept[0] - 1


def test_lines_after_the_end_and_a_second_header_are_reported():
    lines = stream().splitlines(keepends=True)
    assert any("follows the end" in p for p in read(b"".join([*lines, lines[1]])).problems)
    assert any("second run header" in p for p in read(b"".join([lines[0], *lines])).problems)


def test_unknown_kinds_are_counted_and_leave_the_stream_complete():
    lines = []
    writer = Writer(lines.append)
    request = Request("run", "as2d", ModelRef("t"), AudioRef("a"))
    writer.add(RunHeader(SCHEMA_VERSION, "run", request, {}, {}, "virtual"))
    writer.add(Unknown("smell", {"value": 3}))
    writer.end("failed", 0, error="no model")
    record = parse(lines)
    assert record.unknown == {"smell": 1}
    assert (record.status, record.end.error) == ("failed", "no model")


def test_unknown_fields_are_kept():
    event = decode('{"kind":"mark","name":"eos","time_ns":5,"mood":"fine"}')
    assert event.extra == {"mood": "fine"}
    assert json.loads(encode(event))["mood"] == "fine"


def test_builder_gives_the_same_record_as_reading_at_once():
    data = stream()
    builder = RecordBuilder()
    for line in io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"):
        builder.feed(line)
    assert builder.finish() == read(data)


def test_run_file_is_read_like_its_lines(tmp_path):
    (tmp_path / "run.ndjson").write_bytes(stream())
    assert read_run(tmp_path / "run.ndjson") == read(stream())


def test_hash_of_the_end_covers_every_byte_before_it():
    lines = stream().splitlines(keepends=True)
    assert json.loads(lines[-1])["sha256"] == hashlib.sha256(b"".join(lines[:-1])).hexdigest()


MARK = {"kind": "mark", "name": "eos", "time_ns": 5}
SPAN = {"kind": "span", "lane": "target", "work": "step", "start_ns": 5, "end_ns": 6}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "not a whole line of JSON"),
        ("[]", "not a JSON object"),
        ("{}", "the object has no kind"),
        ('{"kind":3}', "the object has no kind"),
        (json.dumps({**MARK, "time_ns": -1}), "mark: time_ns is -1, below 0"),
        (json.dumps({**MARK, "time_ns": 1.5}), "time_ns is not a whole number"),
        (json.dumps({**MARK, "time_ns": True}), "time_ns is not a whole number"),
        (json.dumps({**MARK, "time_ns": None}), "time_ns is not a whole number"),
        (json.dumps({**MARK, "name": 3}), "name is not text"),
        ('{"kind":"mark","name":"eos"}', "time_ns missing"),
        ('{"kind":"mark","name":"eos","time_ns":NaN}', "NaN is not a JSON number"),
        ('{"kind":"mark","name":"eos","time_ns":5,"x":1e999}', "1e999 is larger than any number"),
        (json.dumps({**SPAN, "end_ns": 4}), "span: it ends before it starts"),
        (json.dumps({"kind": "pieces", "text": {"five": "a"}}), "pieces:"),
        (json.dumps({"kind": "pieces", "hex": {"5": "xy"}}), "pieces:"),
        ("[" * 100_000, "not a whole line of JSON"),
        ("x" * (MAX_LINE_BYTES + 1), "more than any event can have"),
    ],
)
def test_line_that_is_no_event_is_refused_with_its_number(line, sentence):
    with pytest.raises(RecordError) as caught:
        decode(line, 7)
    assert sentence in str(caught.value)
    assert caught.value.line == 7


def test_newer_schema_asks_for_a_newer_program():
    header = RunHeader(
        SCHEMA_VERSION + 1, "run", Request("run", "as2d", ModelRef("t"), AudioRef("a")), {}, {}, "virtual"
    )
    with pytest.raises(RecordError, match="update this program"):
        decode(encode(header))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"run_id": ""}, "run_id is empty"),
        ({"budget": -1}, "budget is -1"),
        ({"budget": 2.5}, "budget is not a whole number"),
        ({"max_tokens": "many"}, "max_tokens is not a whole number"),
        ({"target": "folder"}, "target is not an object"),
        ({"target": None}, "target is not an object"),
        ({"threshold": "0.4"}, "threshold is not a number"),
    ],
)
def test_bad_request_is_refused_with_its_field(change, sentence):
    body = request_to_json(Request("run", "as2d", ModelRef("t"), AudioRef("a")))
    with pytest.raises(RecordError) as caught:
        request_from_json({**body, **change})
    assert sentence in str(caught.value)


def test_request_must_be_an_object_with_its_needed_fields():
    with pytest.raises(RecordError, match="a request is a JSON object"):
        request_from_json([])
    with pytest.raises(RecordError, match="run_id, method, target, audio missing"):
        request_from_json({})


def test_file_that_does_not_begin_with_a_header_is_refused():
    with pytest.raises(RecordError, match="the file is empty"):
        parse([])
    with pytest.raises(RecordError, match="the first line is not a run header"):
        parse([json.dumps(MARK) + "\n"])
