"""Power counters of Perfetto traces: what is read, on which clock, and what a damaged or hostile file does."""

import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfetto_bytes import BOOT_NS, clocks, field, gauge, message, packet, power_trace, rail_names, rails, varint

from datastore import perfetto_traces, perfetto_wire
from datastore.errors import ForeignError
from datastore.opening import open_store
from datastore.perfetto_traces import looks_like_trace, read_power_trace
from datastore.power_traces import forget_trace, keep_trace, list_traces, load_counters
from datastore.rebuild import rebuild

S = 1_000_000_000


def read(*parts):
    return read_power_trace(b"".join(parts), "t.pftrace")


def by_name(found):
    return {item.name: item for item in found.counters}


def test_battery_and_rails_are_read_with_their_units_on_the_boot_time_clock():
    found = read(power_trace(1_000, 1_500))
    counters = by_name(found)
    assert {name: (item.kind, item.unit) for name, item in counters.items()} == {
        "current": ("battery", "µA"),
        "voltage": ("battery", "µV"),
        "charge counter": ("battery", "µAh"),
        "CPU": ("rail", "µWs"),
        "GPU": ("rail", "µWs"),
    }
    assert counters["current"].time_ns == (S, S + S // 4, S + S // 2)
    assert counters["current"].values == (-1e6, -1e6, -1e6)
    assert counters["CPU"].values == (5e6, 5.25e6, 5.5e6)
    assert (found.boot_ns, found.build, found.notes) == (BOOT_NS, "Xiaomi/x:16", ())


def test_a_counter_that_the_phone_does_not_have_is_not_there_and_never_zero():
    assert set(by_name(read(gauge(S, current=5)))) == {"current"}


def test_a_current_of_zero_is_a_reading():
    assert by_name(read(gauge(S, current=0)))["current"].values == (0.0,)


def test_capacity_is_a_float_and_one_that_is_no_number_is_left_out():
    found = by_name(read(gauge(S, capacity=77.5), gauge(2 * S, capacity=float("nan")), gauge(3 * S, capacity=76.0)))
    assert found["capacity"].values == (77.5, 76.0)


def test_readings_on_another_clock_are_moved_by_the_nearest_snapshot():
    shots = clocks((3, 5 * S), (6, 9 * S)), clocks((3, 100 * S), (6, 110 * S))
    found = by_name(read(*shots, gauge(6 * S, clock=3, current=1), gauge(101 * S, clock=3, current=2)))
    assert found["current"].time_ns == (10 * S, 111 * S)


def test_the_default_clock_of_a_packet_sequence_holds_for_that_sequence_only():
    default = packet((59, message((58, 3))), (10, 7))
    body = message((3, 1))
    shot = clocks((3, 5 * S), (6, 9 * S))
    found = by_name(
        read(shot, default, packet((8, 6 * S), (10, 7), (38, body)), packet((8, 7 * S), (10, 8), (38, body)))
    )
    assert found["current"].time_ns == (7 * S, 10 * S)


def test_readings_on_a_clock_that_nothing_ties_to_boot_time_are_left_out_and_counted():
    found = read(gauge(S, clock=64, current=1), gauge(S, current=2))
    assert by_name(found)["current"].values == (2.0,)
    assert "1 readings of t.pftrace are on a clock that cannot be told from boot time" in found.notes[0]


CODECS = {50: zlib.compress, 133: lambda data: pa.compress(data, codec="zstd", asbytes=True)}


@pytest.mark.parametrize("codec", CODECS)
def test_compressed_packets_are_read_as_plain_ones(codec):
    plain = power_trace()
    assert read(packet((codec, CODECS[codec](plain)))) == read(plain)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("damage", [lambda _: b"xyz", lambda data: data[:-9]])
def test_a_compressed_packet_that_is_damaged_is_counted_and_the_others_are_read(codec, damage):
    found = read(packet((codec, damage(CODECS[codec](power_trace(0, 500))))), gauge(S, current=1))
    assert "1 packet of t.pftrace is damaged and was passed over." in found.notes
    assert by_name(found)["current"].values[-1] == 1.0


@pytest.mark.parametrize("codec", CODECS)
def test_what_expands_without_limit_is_refused(monkeypatch, codec):
    monkeypatch.setattr(perfetto_wire, "MOST_INFLATED", 10_000)
    with pytest.raises(ForeignError, match="compressed packets become more than"):
        read(packet((codec, CODECS[codec](bytes(1_000_000)))))


def test_more_packets_than_any_trace_needs_are_refused_however_small_they_are_packed(monkeypatch):
    monkeypatch.setattr(perfetto_wire, "MOST_PACKETS", 1_000)
    with pytest.raises(ForeignError, match="more than 1,000 packets; record power counters alone"):
        read(packet((133, CODECS[133](packet((8, 1)) * 1_000))))


def test_damaged_packets_hold_no_memory():
    data = packet((133, CODECS[133](power_trace(0, 500))[:-9])) * 64
    before = Path("/proc/self/statm").read_text().split()[0]
    with pytest.raises(ForeignError, match="64 packets"):
        read(data)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) - int(before)
    assert pages * 4_096 < 64 * perfetto_wire.MOST_INFLATED // 8


def test_packets_within_packets_within_packets_end_somewhere():
    data = power_trace(0, 500)
    for _ in range(50):
        data = packet((50, zlib.compress(data)))
    with pytest.raises(ForeignError, match="no power counter"):
        read(data)


def test_more_readings_than_any_trace_needs_are_refused(monkeypatch):
    monkeypatch.setattr(perfetto_traces, "MOST_READINGS", 10)
    with pytest.raises(ForeignError, match="over 10 readings"):
        read(power_trace())


def test_a_trace_that_is_cut_off_is_read_up_to_the_cut():
    whole = power_trace(0, 1_000)
    found = read(whole[:-3])
    assert "is cut off or damaged after" in found.notes[0]
    assert len(by_name(found)["current"].values) == 5
    assert len(by_name(found)["CPU"].values) == 4


def test_a_damaged_packet_is_counted_and_the_others_are_read():
    found = read(gauge(S, current=1), field(1, b"\x07\x07"), gauge(2 * S, current=2))
    assert by_name(found)["current"].values == (1.0, 2.0)
    assert "1 packet of t.pftrace is damaged" in found.notes[0]


def test_readings_out_of_order_are_put_in_order_and_a_falling_rail_is_said():
    found = read(rail_names("CPU"), rails(2_000, 20), rails(1_000, 30))
    assert by_name(found)["CPU"].values == (30.0, 20.0)
    assert any("falls" in note for note in found.notes)


def test_a_rail_without_a_name_is_called_by_its_number():
    assert set(by_name(read(rails(1, 5)))) == {"rail 0"}


def test_a_trace_without_wall_clock_says_that_it_cannot_be_laid_beside_a_run():
    assert "cannot be laid beside a run" in read(power_trace(boot_ns=None)).notes[-1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no power counter"),
        (b"hello world", "is no Perfetto trace"),
        (b"\xff" * 20, "is no Perfetto trace"),
        (packet((1, b"ftrace")), "android.power"),
        (packet((38, message((3, 5)))), "damaged"),
        (varint(1 << 3 | 2) + varint(2**60), "is no Perfetto trace"),
    ],
)
def test_what_holds_no_power_counter_is_refused_with_what_to_do(data, said):
    with pytest.raises(ForeignError, match=said):
        read(data)


def assert_read_or_refused(data):
    """There are counters in ``data``, or a sentence about the file says why there are none."""
    said = None
    try:
        found = read(data)
    except ForeignError as error:
        said = str(error)
    if said is not None:
        assert "t.pftrace" in said
        assert said.endswith(".")
        assert "\n" not in said
        return
    assert found.counters
    for item in found.counters:
        assert len(item.time_ns) == len(item.values) > 0
        assert list(item.time_ns) == sorted(item.time_ns)
        assert np.isfinite(item.values).all()


PACKET = st.sampled_from([gauge(5, current=1), rail_names("CPU"), rails(1, 5), clocks(), packet((1, b"x"))])


@given(st.binary(max_size=400) | st.lists(PACKET | st.binary(max_size=9)).map(b"".join))
def test_any_bytes_are_counters_in_order_of_time_or_a_sentence(data):
    assert_read_or_refused(data)
    assert looks_like_trace(clocks() + data)
    assert not looks_like_trace(b"{" + data)


@given(st.data())
def test_a_trace_with_some_bytes_changed_is_a_trace_or_a_sentence(data):
    raw = bytearray(power_trace(0, 1_000))
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    assert_read_or_refused(bytes(raw))


def test_a_trace_is_told_from_text_by_its_first_packet():
    assert looks_like_trace(power_trace())
    assert not looks_like_trace(b'\n{"results": []}\n')
    assert not looks_like_trace(b'{"a": 1}')
    assert not looks_like_trace(b"")


def test_a_trace_is_kept_once_with_all_its_counters(store):
    found = read(power_trace(0, 2_000))
    assert keep_trace(store, "t.pftrace", "abc", found)
    assert not keep_trace(store, "again.pftrace", "abc", found)
    (kept,) = list_traces(store)
    assert (kept.file_name, kept.counters, kept.first_ns, kept.last_ns) == ("t.pftrace", 5, 0, 2 * S)
    assert tuple(load_counters(store, "abc")) == found.counters
    forget_trace(store, "abc")
    assert list_traces(store) == []


def test_times_beyond_what_the_database_holds_are_no_error(store):
    assert keep_trace(store, "odd", "abc", read(gauge(2**64 - 1, current=2**63), clocks((1, 2**64 - 1), (6, 1))))
    assert list_traces(store)[0].boot_ns is None


def test_kept_traces_outlive_a_rebuild(folder, store):
    keep_trace(store, "t.pftrace", "abc", read(power_trace(0, 2_000)))
    before = load_counters(store, "abc")
    store.close()
    rebuild(folder)
    with open_store(folder) as again:
        assert load_counters(again, "abc") == before
