"""A record comes out of the database as it was parsed from its log, whatever was in the log."""

import json
from dataclasses import fields
from itertools import count

import pytest
import sample_runs
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.accounting import summarise
from as2d_core.errors import RecordError
from as2d_core.operation_records import Sample, Trajectory
from as2d_core.protocol import Writer, encode, read_run
from as2d_core.records import Conditions, Engine, RunRecord, Unknown
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import get_run
from datastore.timeline import PARTS, load_record
from datastore.verify import verify

TEXTS = st.text(max_size=8)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
PLACEHOLDER = "the-id-of-this-run"
numbers = count()
RARE = (
    Engine("target", "m", "ab", "3.6.1", "cpu", 2, "high", "high", (4, 5), (4,), (2, 3)),
    Sample("verify", 1200, True, 4, 17, 2),
    Trajectory((5, 6, 2), False, "ctc", (5, 7), (0.5, 0.25), False, (5, 6, 2), (0.9, 0.8, 0.7), eos=2),
    sample_runs.self_test(),
    Conditions(5, False, ("core 3 is off-line",), 20.0, 7, (3200.0, None), 31.5, 0, False, False, True),
    Unknown("from_the_future", {"x": 1}),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roundtrip")
    with open_store(folder / "data") as store:
        yield store, folder


def _spoil(draw, body):
    """Put any JSON value where some field's own value was."""
    for name in draw(st.lists(st.sampled_from(sorted(body)), max_size=2, unique=True)):
        body[name] = draw(JSON_VALUES)


@st.composite
def foreign_logs(draw):
    """Lines of a run in which any field may hold any JSON value, and any line may be missing or broken."""
    whole = sample_runs.lines(PLACEHOLDER, [*sample_runs.events(), *RARE])
    head = json.loads(whole[0])
    spoiled = draw(st.sampled_from([None, "head", "request", "target", "audio", "placement", "device"]))
    if spoiled:
        asked = head["request"]
        _spoil(draw, {"head": head, "request": asked, "device": head["device"]}.get(spoiled) or asked[spoiled])
        head["run_id"] = PLACEHOLDER
    out = [json.dumps(head) + "\n"]
    for line in whole[1:]:
        body = json.loads(line)
        for name in (
            draw(st.lists(st.sampled_from(sorted(body)), max_size=2, unique=True)) if draw(st.booleans()) else ()
        ):
            body[name] = draw(JSON_VALUES)
        body.update(draw(st.dictionaries(TEXTS, JSON_VALUES, max_size=1)))
        out.append(json.dumps(body, ensure_ascii=draw(st.booleans())) + "\n")
    cut = draw(st.integers(1, len(out)))
    text = "".join(out[:cut]) if draw(st.booleans()) else "".join(out)
    data = text.encode("utf-8", "surrogatepass")
    if draw(st.booleans()):
        place = draw(st.integers(len(out[0].encode()), len(data)))
        data = data[:place] + draw(st.binary(min_size=1, max_size=2)) + data[place:]
    return data


@examples(15, 40)
@given(data=foreign_logs())
def test_any_log_that_can_be_read_comes_back_equal(shared, data):
    store, folder = shared
    path = folder / "foreign.ndjson"
    path.write_bytes(data.replace(PLACEHOLDER.encode(), f"foreign-{next(numbers)}".encode()))
    try:
        record = read_run(path)
    except RecordError:
        with pytest.raises(RecordError):
            ingest_run(store, path)
        return
    result = ingest_run(store, path)
    loaded = load_record(store, result.run_id)
    assert loaded == record
    assert summarise(loaded) == summarise(record)
    assert get_run(store, result.run_id).status == record.status


@st.composite
def whole_records(draw):
    """Complete runs with any number of events in any order."""
    events = draw(st.lists(st.sampled_from([*sample_runs.events(), *RARE]), max_size=20))
    return events, draw(st.sampled_from(["eos", "capped", "cancelled", "failed"]))


@examples(8, 20)
@given(run=whole_records())
def test_a_complete_run_comes_back_equal_and_keeps_its_status(shared, run):
    store, folder = shared
    events, status = run
    run_id = f"whole-{next(numbers)}"
    path = sample_runs.write_run(folder, run_id, events, status=status)
    assert ingest_run(store, path).status == status
    assert load_record(store, run_id) == read_run(path)


def test_every_list_of_a_record_is_stored(store, tmp_path):
    path = sample_runs.write_run(tmp_path, "full", [*sample_runs.events(), *RARE])
    ingest_run(store, path)
    loaded = load_record(store, "full")
    empty = [f.name for f in fields(RunRecord) if f.name != "problems" and not getattr(loaded, f.name)]
    assert empty == []
    assert loaded == read_run(path)


def test_parts_that_are_not_asked_for_are_left_out(store, tmp_path):
    path = sample_runs.write_run(tmp_path, "full", [*sample_runs.events(), *RARE])
    ingest_run(store, path)
    loaded = load_record(store, "full", ["rounds", "marks"])
    whole = read_run(path)
    assert (loaded.rounds, loaded.marks, loaded.end) == (whole.rounds, whole.marks, whole.end)
    assert (loaded.spans, loaded.pieces, loaded.engines) == ([], {}, {})
    assert set(PARTS) >= {"spans", "rounds"}


def test_one_foreign_value_among_many_events_costs_no_other_event_its_columns(store, tmp_path):
    spans = [sample_runs.Span("target", "verify", i, i + 1, i) for i in range(999)]
    spans[500] = sample_runs.Span("target", "verify", 500, 501, 500.5)
    ingest_run(store, sample_runs.write_run(tmp_path, "odd", [*sample_runs.events(), *spans]))
    rows = store.read(
        "SELECT count(*), count(raw_json), min(CASE WHEN raw_json IS NOT NULL THEN start_ns END) FROM spans"
    )
    assert rows == [(999 + 5, 1, 500)]


def test_a_foreign_value_is_never_rounded_to_fit(store, tmp_path):
    out = []
    writer = Writer(out.append)
    writer.add(sample_runs.header("odd"))
    body = json.loads(encode(sample_runs.Telemetry(5, online_mask=3)))
    body["online_mask"] = 3.5
    body["battery_current_ma"] = 2**53 + 1
    out.append(json.dumps(body) + "\n")
    path = tmp_path / "odd.ndjson"
    path.write_text("".join(out))
    ingest_run(store, path)
    [reading] = load_record(store, "odd").telemetry
    assert (reading.online_mask, reading.battery_current_ma) == (3.5, 2**53 + 1)


def test_what_was_taken_in_verifies(shared):
    store, _ = shared
    assert verify(store).problems == ()


def test_halves_of_a_surrogate_pair_from_different_places_stay_apart(store, tmp_path):
    head, *_ = sample_runs.lines("split")
    path = tmp_path / "split.ndjson"
    path.write_bytes(head.encode() + b'{"kind":"mark","name":"x","time_ns":1,"note":"\\ud800\x80"}\n')
    ingest_run(store, path)
    assert load_record(store, "split").marks["x"].extra == {"note": "\ud800\udc80"}
    assert load_record(store, "split") == read_run(path)


@pytest.mark.parametrize(
    "moves", ["", {}, "abc", [["match", 0]], [["match", 0, 1.5]], [["match", 0, None]], None, [[]]]
)
def test_moves_of_any_shape_come_back_as_they_were(store, tmp_path, moves):
    body = json.loads(encode(next(e for e in sample_runs.events() if e.kind == "round")))
    path = tmp_path / "moves.ndjson"
    path.write_text(sample_runs.lines("moves")[0] + json.dumps({**body, "moves": moves}) + "\n")
    ingest_run(store, path)
    assert load_record(store, "moves") == read_run(path)
