"""A core that goes off-line ends the run as failed, and its batch; what was measured is kept."""

import pytest
from live_runner import demo_request

from as2d_core.gates import Gates
from as2d_core.protocol import parse
from as2d_core.runner.coordinator import Coordinator
from as2d_core.runner.sensors import Sensors

pytestmark = pytest.mark.models


class Phone:
    """A folder that stands for /sys, and a coordinator that looks there."""

    def __init__(self, folder):
        self.online = folder / "devices/system/cpu/online"
        clock = folder / "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"
        clock.parent.mkdir(parents=True)
        clock.write_text("1800000", encoding="ascii")
        self.online.write_text("0-7", encoding="ascii")
        self.lines = []
        self.loses_a_core = False
        self.coordinator = Coordinator(self.write, sensors=Sensors(folder))

    def write(self, line):
        self.lines.append(line)
        if self.loses_a_core and '"kind":"round"' in line:
            self.online.write_text("0-6", encoding="ascii")


@pytest.fixture
def phone(tmp_path):
    phone = Phone(tmp_path)
    yield phone
    phone.coordinator.close()


def test_a_core_that_goes_off_line_fails_the_run_and_ends_the_batch(phone, exact_widths):
    phone.loses_a_core = True
    request = demo_request("r1", "as2d", "long_00", exact_widths, budget=3, drafter_pace_ms=30.0)
    assert phone.coordinator.run(request) == "failed"
    record = parse(phone.lines)
    assert record.problems == []
    assert record.rounds
    assert record.end.error.startswith("Core 7 went off-line during the run")
    assert record.end.extra["stops_batch"] is True
    assert phone.coordinator.batch_over == record.end.error


def test_gates_are_waited_for_before_the_request_and_recorded(phone, exact_widths):
    gates = Gates(rest_s=0.0, check_gap_s=0.0, max_battery_c=None, max_thermal_status=None)
    request = demo_request("r2", "target-only", "clean_00", exact_widths, gates=gates)
    assert phone.coordinator.run(request) == "eos"
    record = parse(phone.lines)
    assert [look.passed for look in record.conditions] == [True, True]
    assert max(look.time_ns for look in record.conditions) < record.marks["request"].time_ns
