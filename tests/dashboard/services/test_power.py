"""Power counters of a trace beside a run: only where both clocks allow it, and with the reason where not."""

from dataclasses import replace

import pytest
from page_samples import put
from perfetto_bytes import BOOT_NS, gauge, power_trace, rail_names, rails

from as2d_core.records import Mark, Telemetry
from dashboard.notebook.source import Source
from dashboard.reports.bundle import write_bundle
from dashboard.reports.unpacking import sha256
from dashboard.services.importing import import_bytes
from dashboard.services.power import battery_readings, power_beside, rail_energy, why_not
from dashboard.services.reporting import make_report
from dashboard.services.runs import load_record
from datastore.errors import ForeignError
from datastore.opening import open_store
from datastore.perfetto_traces import PowerCounter, read_power_trace
from datastore.power_traces import forget_trace, keep_trace, list_traces, load_counters

S = 1_000_000_000


@pytest.fixture
def record(workspace, tmp_path):
    """A measured run of 2026-03-01 10:00 UTC, whose clock was 0 just then; it decodes for some seconds."""
    put(workspace.store, tmp_path, "run")
    return load_record(workspace, "run")


def take(workspace, data, name="power.pftrace"):
    return import_bytes(workspace.store, data, name)


def test_a_trace_of_the_same_boot_gives_energy_of_battery_and_rails(workspace, record):
    found = take(workspace, power_trace(watts=4.0))
    assert found.counters == ["current", "voltage", "charge counter", "CPU", "GPU"]
    (beside,), left = power_beside(workspace.store, record)
    length_s = (record.marks["drained"].time_ns - record.marks["request"].time_ns) / 1e9
    assert left == []
    assert beside.battery.joules == pytest.approx(4.0 * length_s, rel=1e-6)
    cpu, gpu = beside.rails
    assert (cpu.name, gpu.name) == ("CPU", "GPU")
    assert cpu.joules == pytest.approx(1.0 * length_s, rel=1e-3)
    assert cpu.mean_w == pytest.approx(1.0, rel=1e-3)
    assert gpu.joules == 0.0
    assert beside.covered == pytest.approx(1.0)


def test_a_report_shows_the_power_of_its_run_and_its_bundle_takes_the_counters_along(workspace, record, tmp_path):
    store = workspace.store
    take(workspace, power_trace(watts=4.0))
    take(workspace, power_trace(boot_ns=BOOT_NS - 3600 * S), "of another start.pftrace")
    report = make_report(store, "run", ["run"])
    assert "power" in [cell.body.get("view") for cell in report.cells if cell.kind == "figure"]
    packed = write_bundle(Source(store), report).data
    with open_store(tmp_path / "other") as other:
        found = import_bytes(other, packed, "b.zip")
        assert (found.refused, found.counters) == ([], ["current", "voltage", "charge counter", "CPU", "GPU"])
        assert import_bytes(other, packed, "b.zip").counters == []
        (kept,) = list_traces(other)
        (ours,), _ = power_beside(store, record)
        assert (kept.file_name, kept.boot_ns, kept.build) == ("power.pftrace", BOOT_NS, ours.trace.build)
        assert load_counters(other, kept.file_sha256) == list(ours.counters)
        take_again = import_bytes(other, power_trace(watts=4.0), "the same.pftrace")
        assert "were here already" in take_again.notes[-1]


def test_counters_that_a_bundle_gives_out_as_those_of_a_trace_do_not_stand_against_the_trace(
    workspace, tmp_path, record
):
    genuine, name = power_trace(watts=4.0), "power.pftrace"
    store, digest = workspace.store, sha256(genuine)
    keep_trace(store, name, digest, read_power_trace(power_trace(watts=9.0), name))  # another trace under its hash
    forged = write_bundle(Source(store), make_report(store, "run", ["run"])).data
    forget_trace(store, digest)
    take(workspace, genuine)
    ours = load_counters(store, digest)
    (said,) = take(workspace, forged, "b.zip").refused
    assert said.startswith("Other readings of the trace power.pftrace are kept here already; these were not taken.")
    assert load_counters(store, digest) == ours
    with open_store(tmp_path / "other") as other:
        assert import_bytes(other, forged, "b.zip").refused == []
        assert "what the file itself says is in their place" in import_bytes(other, genuine, name).notes[-1]
        assert load_counters(other, digest) == ours


def test_a_report_of_a_run_that_no_trace_covers_has_no_empty_figure_of_power(workspace, record):
    assert record.header.source == "measured"
    take(workspace, power_trace(boot_ns=BOOT_NS - 3600 * S))
    report = make_report(workspace.store, "run", ["run"])
    assert "power" not in [cell.body.get("view") for cell in report.cells if cell.kind == "figure"]


def test_a_trace_taken_in_twice_is_kept_once(workspace):
    take(workspace, power_trace())
    again = take(workspace, power_trace(), "other-name.bin")
    assert again.notes == ["The counters of other-name.bin were here already."]
    assert len(list_traces(workspace.store)) == 1


def test_a_file_with_the_ending_of_a_trace_that_is_none_says_so(workspace):
    with pytest.raises(ForeignError, match=r"notes\.pftrace is no Perfetto trace"):
        take(workspace, b"hello", "notes.pftrace")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"boot_ns": BOOT_NS - 86_400 * 3 * S}, "another start of it: the boot times lie 3 days apart"),
        ({"boot_ns": None}, "no wall clock"),
        ({"first_ms": 100_000, "last_ms": 101_000}, "begins after the run has ended"),
    ],
)
def test_a_trace_that_does_not_belong_to_the_run_says_why(workspace, record, how, said):
    take(workspace, power_trace(**how))
    found, (left,) = power_beside(workspace.store, record)
    assert found == []
    assert said in left.reason


def test_a_run_without_a_device_clock_or_an_end_says_why(workspace, record):
    take(workspace, power_trace())
    (trace,) = list_traces(workspace.store)
    replayed = replace(record, header=replace(record.header, source="replayed"))
    assert "no device drew power" in why_not(trace, replayed)
    other = replace(record, header=replace(record.header, clock="CLOCK_MONOTONIC"))
    assert "timed by CLOCK_MONOTONIC" in why_not(trace, other)
    broken = replace(record, marks={"request": Mark("request", 0)})
    assert "did not come to its end" in why_not(trace, broken)
    undated = replace(record, header=replace(record.header, created_at="yesterday"))
    assert "does not say when it was made" in why_not(trace, undated)


def test_a_trace_that_covers_half_of_the_run_has_no_energies_but_its_share(workspace, record):
    end_ms = record.marks["drained"].time_ns // 1_000_000
    take(workspace, power_trace(last_ms=end_ms // 2, step_ms=10))
    (beside,), _ = power_beside(workspace.store, record)
    assert beside.rails[0].joules is None
    assert beside.rails[0].reason == "its readings do not cover the run"
    assert 0.4 < beside.covered < 0.6


def counters(*parts):
    return read_power_trace(b"".join(parts), "t").counters


def test_without_a_moving_charge_counter_it_is_not_known_whether_the_phone_charged():
    readings = battery_readings(counters(gauge(S, current=5, voltage=4), gauge(2 * S, current=5, voltage=4)))
    assert [reading.charging for reading in readings] == [None, None]


def test_a_rising_charge_counter_means_charging_and_the_runs_own_readings_count_more():
    found = counters(gauge(S, charge=10), gauge(2 * S, charge=20))
    assert battery_readings(found)[0].charging is True
    own = [Telemetry(S, charging=False)]
    assert battery_readings(found, own)[0].charging is False


def test_a_missing_voltage_is_missing_and_not_zero():
    (reading,) = battery_readings(counters(gauge(S, current=-400_000)))
    assert (reading.battery_current_ma, reading.battery_voltage_mv) == (-400.0, None)


def test_a_rail_whose_counter_was_reset_or_paused_has_no_energy():
    (reset,) = counters(rail_names("A"), rails(0, 100), rails(500, 50), rails(1_000, 80))
    assert rail_energy(reset, 0, S).reason == "its counter was reset during the run"
    (paused,) = counters(rail_names("A"), rails(0, 0), rails(9_000, 50))
    assert rail_energy(paused, 0, 9 * S).reason == "no reading for 9.0 s"
    assert rail_energy(PowerCounter("rail", "x", "µWs", (0,), (1.0,)), 0, S).joules is None


def test_energy_between_two_readings_of_a_rail_is_read_off_the_line():
    (rail,) = counters(rail_names("A"), rails(0, 0), rails(1_000, 1_000_000), rails(2_000, 3_000_000))
    found = rail_energy(rail, S // 2, S + S // 2)
    assert found.joules == pytest.approx(1.5)
    assert found.mean_w == pytest.approx(1.5)
