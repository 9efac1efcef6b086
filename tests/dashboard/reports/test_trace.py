"""Rules of the trace format, checked on the events as a viewer reads them."""

import json
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "views"))

from view_samples import MS, cut_off, decode, ended

from as2d_core.records import Span
from dashboard.reports.trace import trace, trace_json

HOSTILE = b"</script><img src=x>"


def events(record, phase=None):
    found = trace([record])["traceEvents"]
    return found if phase is None else [e for e in found if e["ph"] == phase]


def check_nesting(found):
    """On every track, a slice lies inside or behind all that began before it."""
    tracks = defaultdict(list)
    for event in found:
        if event["ph"] == "X":
            assert event["dur"] >= 0
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for slices in tracks.values():
        open_ends = []
        for start, end in slices:
            assert not open_ends or start >= slices[0][0]
            while open_ends and open_ends[-1] <= start + 1e-6:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 1e-6
            open_ends.append(end)
    return tracks


def track_names(found):
    return {e["tid"]: e["args"]["name"] for e in found if e["name"] == "thread_name"}


@pytest.mark.parametrize("method", ["as2d", "sd", "specasr", "target-only"])
def test_every_track_is_properly_nested_and_in_order_of_time(method):
    for slices in check_nesting(events(decode(method))).values():
        assert [s for s, _ in slices] == sorted(s for s, _ in slices)


def test_drafter_and_target_have_their_own_tracks():
    record = decode()
    found = events(record)
    names = track_names(found)
    work = Counter((names[e["tid"]], e["cat"]) for e in found if e["ph"] == "X")
    assert set(names.values()) == {"target", "drafter"}
    assert work["target", "round"] == len(record.rounds)
    assert work["drafter", "draft"] == sum(s.work == "draft" for s in record.spans)
    assert ("drafter", "verify") not in work


def test_nothing_of_the_record_is_left_out():
    record = decode(telemetry=True)
    found = events(record)
    assert sum(e["ph"] == "X" for e in found) == len(record.rounds) + len(record.spans)
    assert sum(e["ph"] == "i" and e["cat"] == "publication" for e in found) == len(record.publications)
    ready = [e for e in found if e["ph"] == "C" and e["name"].startswith("Ready")]
    assert len(ready) == len(record.rounds)


def test_an_arrow_goes_from_each_used_publication_to_the_round_that_first_used_it():
    record = decode()
    found = events(record)
    used = [e["args"] for e in found if e["ph"] == "i" and e["cat"] == "publication"]
    used = [args for args in used if args["first_used_by_round"] is not None]
    starts = {e["id"]: e for e in found if e["ph"] == "s"}
    ends = {e["id"]: e for e in found if e["ph"] == "f"}
    assert len(starts) == len(ends) == len(used) > 3
    rounds = {r.index: r for r in record.rounds}
    for args, start, end in zip(used, starts.values(), ends.values(), strict=True):
        first = rounds[args["first_used_by_round"]]
        batch = next(b for b in record.publications if b.offset == args["offset"])
        assert set(range(batch.offset, batch.offset + len(batch.tokens))) & chain(first)
        earlier = [r for r in record.rounds if r.index < first.index]
        assert not any(set(range(batch.offset, batch.offset + len(batch.tokens))) & chain(r) for r in earlier)
        for arrow, category in ((start, {"draft", "publish"}), (end, {"round"})):
            held = [
                e for e in found if e["ph"] == "X" and e["tid"] == arrow["tid"] and e["cat"] in category
                and e["ts"] <= arrow["ts"] < e["ts"] + e["dur"]
            ]  # fmt: skip
            assert held
        assert end["bp"] == "e"
        assert end["ts"] >= start["ts"]


def chain(item):
    start = item.moves[-1][2] if item.moves else item.cursor_before
    return set(range(start, start + item.proposed))


def test_decode_start_is_time_zero():
    found = events(decode())
    mark = next(e for e in found if e["ph"] == "i" and e["name"] == "decode_start")
    prefill = next(e for e in found if e["ph"] == "X" and e["name"] == "prefill")
    assert mark["ts"] == 0
    assert (prefill["ts"], prefill["dur"]) == (-412_000.0, 412_000.0)


def test_every_nanosecond_survives_a_clock_that_has_run_for_days():
    record = decode()
    later = 10**15 + 7

    def shift(item):
        names = [n for n in ("start_ns", "end_ns", "time_ns", "received_ns") if getattr(item, n, None) is not None]
        return replace(item, **{n: getattr(item, n) + later for n in names})

    lists = {n: [shift(item) for item in getattr(record, n)] for n in ("spans", "rounds", "publications")}
    moved = replace(record, marks={n: shift(m) for n, m in record.marks.items()}, **lists)
    assert [e for e in events(moved) if e["ph"] != "M"] == [e for e in events(record) if e["ph"] != "M"]


def test_a_sensor_that_was_not_read_is_left_out_not_zero():
    record = decode(telemetry=True)
    heat = [e["args"]["°C"] for e in events(record, "C") if e["name"] == "Battery (°C)"]
    assert len(heat) == sum(t.battery_temperature_c is not None for t in record.telemetry) < len(record.telemetry)
    assert min(heat) > 30


def test_spans_that_overlap_on_one_lane_move_to_a_track_of_their_own():
    record = decode()
    start = record.marks["decode_start"].time_ns
    extra = [Span("drafter", "draft", start + 150 * MS, start + 164 * MS), Span("npu", "x", start, start + MS)]
    found = events(replace(record, spans=[*record.spans, *extra]))
    check_nesting(found)
    assert "drafter (overlapping, 2)" in track_names(found).values()
    assert next(e for e in found if e["name"] == "x")["args"]["lane"] == "npu"


def test_a_run_that_broke_off_says_so_and_shows_what_there_is():
    body = trace([cut_off(0.5)])
    check_nesting(body["traceEvents"])
    assert body["otherData"]["runs"][0]["status"] == "incomplete"
    assert body["otherData"]["runs"][0]["problems"]


def test_a_run_that_never_decoded_is_a_trace_without_work():
    record = decode()
    bare = ended(replace(record, rounds=[], spans=[], publications=[], marks={}), "failed", "The model is unwell.")
    assert events(bare, "X") == []
    json.loads(trace_json([bare]))


def test_without_the_drafters_spans_its_lane_is_said_to_be_derived():
    record = decode()
    found = events(replace(record, spans=[s for s in record.spans if s.lane == "target"]))
    derived = [e for e in found if e["ph"] == "X" and e["name"] == "draft (derived)"]
    assert len(derived) == len(record.publications)
    assert "derived" in derived[0]["args"]
    assert any(e["ph"] == "s" for e in found)


def test_several_runs_are_processes_that_begin_together_and_say_what_they_are():
    body = trace([decode("as2d"), decode("sd")])
    names = {e["pid"]: e["args"]["name"] for e in body["traceEvents"] if e["name"] == "process_name"}
    assert names == {1: "as2d-8f3a As²d b=7", 2: "sd-8f3a SD K=5"}
    starts = [e["ts"] for e in body["traceEvents"] if e["name"] == "decode_start"]
    assert starts == [0, 0]
    assert {run["label"] for run in body["otherData"]["runs"]} == {"replayed"}
    ids = [e["id"] for e in body["traceEvents"] if e["ph"] == "s"]
    assert len(ids) == len(set(ids))


def test_the_file_is_strict_json_whatever_the_tokens_hold():
    record = decode()
    record.pieces.update(dict.fromkeys(record.pieces, HOSTILE) | {1: b"\xff\x00"})

    def refuse(name):
        raise AssertionError(name)

    assert json.loads(trace_json([record]), parse_constant=refuse)["displayTimeUnit"] == "ms"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 25)), max_size=30))
def test_any_spans_are_nested_and_none_is_lost(places):
    record = decode()
    spans = [Span("drafter", "draft", a, a + n) for a, n in places]
    found = events(replace(record, spans=spans, rounds=[], publications=[]))
    check_nesting(found)
    assert sum(e["ph"] == "X" for e in found) == len(spans)
