"""Facts of phones of several vendors, each with how it was read; what is not said stays unknown."""

import json
import subprocess

import facts_samples as samples
import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_bridge.facts import COMMANDS, batch, cpu_label, facts_from, read_conditions, read_facts, sections
from device_bridge.facts_text import parse_properties


@pytest.fixture
def k70():
    return read_facts(lambda _: samples.printed(samples.K70))


@pytest.mark.parametrize(
    ("name", "value", "how"),
    [
        ("name", "Redmi K70 Pro", "getprop ro.product.marketname"),
        ("soc", "QTI SM8650", "getprop ro.soc.model"),
        ("gpu", "Adreno 750", "dumpsys SurfaceFlinger, line GLES"),
        ("gpu_driver", "0762.36.1", "dumpsys SurfaceFlinger, line GLES"),
        ("opencl", "3.0", "text in /vendor/lib64/libOpenCL_adreno.so"),
        ("memory_bytes", 11443212 * 1024, "/proc/meminfo MemTotal"),
        ("storage_free_bytes", 171000000 * 1024, "df -k /data/local/tmp"),
        ("api_level", 36, "getprop ro.build.version.sdk"),
        ("security_patch", "2026-06-01", "getprop ro.build.version.security_patch"),
        ("abis", ("arm64-v8a",), "getprop ro.product.cpu.abilist"),
        ("battery_temperature_c", 30.5, "dumpsys battery"),
        ("thermal_status", 0, "dumpsys thermalservice"),
        ("screen_on", True, "dumpsys power"),
        ("online", tuple(range(8)), "/sys/devices/system/cpu/online"),
    ],
)
def test_every_fact_says_how_it_was_read(k70, name, value, how):
    assert (k70.value(name), k70.facts[name].how) == (value, how)


def test_clusters_follow_the_kernel_and_are_numbered_from_the_slowest(k70):
    assert [core.cluster for core in k70.cores] == [0, 0, 2, 2, 2, 1, 1, 3]
    assert k70.cores[7].max_mhz == 3302.4
    assert k70.cores[7].part == "Cortex-X4"


def test_without_related_cores_clusters_are_told_by_clock_and_design():
    facts = facts_from(samples.EXYNOS)
    assert [core.cluster for core in facts.cores] == [0, 0, 0, 0, 1, 1, 1, 2]


def test_the_processor_is_named_from_its_fastest_cluster_down(k70):
    assert cpu_label(k70) == (
        "QTI SM8650; 1x Cortex-X4 3.30 GHz, 3x Cortex-A720 3.15 GHz, 2x Cortex-A720 2.96 GHz, "
        "2x Cortex-A520 2.27 GHz; asimddp fphp asimdhp i8mm bf16"
    )


def test_other_vendors_name_chip_and_graphics_elsewhere():
    exynos, mediatek = facts_from(samples.EXYNOS), facts_from(samples.MEDIATEK)
    assert (exynos.value("soc"), exynos.value("gpu"), exynos.value("gpu_driver")) == (
        "s5e9925",
        "Xclipse 920",
        "2.0.1@5562",
    )
    assert (mediatek.value("soc"), mediatek.value("gpu")) == ("MT6983", "Mali-G710")
    assert mediatek.value("gpu_driver") == "r38p1-01eac0.abc123"


def test_thermal_zones_stand_in_for_the_service_in_degrees_or_millidegrees():
    facts = facts_from(samples.MEDIATEK)
    assert dict(facts.value("temperatures_c")) == {"mtktscpu": 45.0, "skin": 33.1}
    assert facts.facts["temperatures_c"].how == "/sys/class/thermal"


def test_a_df_line_that_was_broken_is_read():
    assert facts_from(samples.MEDIATEK).value("storage_free_bytes") == 26000000 * 1024


def test_a_phone_that_answers_nothing_has_only_unknown_facts_and_still_says_what_was_asked():
    facts = facts_from({})
    assert {fact.value for fact in facts.facts.values()} == {None}
    assert all(fact.how for fact in facts.facts.values())
    assert cpu_label(facts) is None


def test_a_property_may_run_over_lines_and_hold_brackets():
    assert parse_properties("[a]: [x]y]\n[b]: [one\ntwo]\n[c]: []\n") == {"a": "x]y", "b": "one\ntwo", "c": ""}


LINES = sorted({line for said in samples.K70.values() for line in said.splitlines()})
"""Each command is answered with what another one says, cut, doubled and out of order."""


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=30), max_size=25).map("\n".join))
def test_any_text_of_a_phone_becomes_facts_that_a_record_can_hold_and_nothing_empty_is_one(text):
    facts = facts_from(dict.fromkeys(COMMANDS, text))
    assert json.loads(json.dumps(facts.as_json(), allow_nan=False))["how"].keys() == facts.facts.keys()
    for fact in facts.facts.values():
        assert fact.how
        assert fact.value not in ("", (), {})
    sizes = [facts.value(f"{what}_bytes") for what in ("memory", "memory_available", "storage", "storage_free")]
    assert all(size is None or size >= 0 for size in sizes)
    celsius = [value for _, value in facts.value("temperatures_c") or ()]
    assert all(-50 <= value <= 200 for value in celsius)


def test_conditions_are_a_part_of_the_facts_in_one_short_command():
    asked = []

    def shell(command):
        asked.append(command)
        return samples.printed({name: samples.K70[name] for name in ("online", "battery", "thermal", "screen")})

    facts = read_conditions(shell)
    assert facts.value("battery_percent") == 80
    assert len(asked) == 1
    assert "getprop" not in asked[0]


def test_the_batch_keeps_the_sections_of_commands_that_work_beside_one_that_fails():
    line = batch({"a": "echo one", "b": "no-such-program-here", "c": "printf two"})
    text = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False).stdout
    assert sections(text) == {"a": "one\n", "b": "", "c": "two"}


def test_the_whole_batch_is_understood_by_a_shell_and_fits_into_one_adb_command(tmp_path):
    line = batch(COMMANDS)
    done = subprocess.run(["sh", "-n", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(line.encode()) < 8000


def test_facts_survive_json(k70):
    body = k70.as_json()
    assert body["cores"][7] == {"core": 7, "cluster": 3, "max_mhz": 3302.4, "part": "Cortex-X4"}
    assert body["how"]["soc"] == "getprop ro.soc.model"


def test_a_phone_over_the_real_adb_server_tells_its_facts(shared_phone):
    phone = shared_phone.phone
    facts = read_facts(lambda text: phone.script(text, check=False).text)
    assert (facts.value("name"), facts.value("virtual")) == (shared_phone.preset.name, True)
    assert (facts.value("soc"), facts.value("api_level")) == (f"QTI {shared_phone.preset.soc}", shared_phone.preset.api)
    assert [core.cluster for core in facts.cores] == [0, 0, 2, 2, 2, 1, 1, 3]
    assert facts.value("memory_bytes") == shared_phone.preset.memory_kb * 1024
    assert facts.value("gpu") is not None
    assert facts.value("battery_temperature_c") is not None
    assert facts.value("storage_free_bytes") > 0
