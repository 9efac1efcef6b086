import time

import pytest
from patience import wait_for

from device_bridge.adb import list_phones
from device_bridge.errors import (
    CommandFailedError,
    CommandTimeoutError,
    DeviceError,
    OfflineError,
    PhoneLostError,
    UnauthorizedError,
    VirtualPhoneError,
)
from device_bridge.virtual_phone import PRESETS
from device_bridge.virtual_phone.faults import FAULTS
from device_bridge.virtual_phone.handle import fault_from_outside

BATTERY = "/sys/class/power_supply/battery"
CORES = "/sys/devices/system/cpu"


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_preset_says_what_the_published_phone_says(start_phone, preset):
    phone = start_phone(preset).phone
    said = {name: phone.run(["getprop", f"ro.{name}"]).text.strip() for name in ("product.model", "build.version.sdk")}
    assert said == {"product.model": PRESETS[preset].model, "build.version.sdk": str(PRESETS[preset].api)}
    assert phone.run(["cat", "/proc/meminfo"]).text.split()[:2] == ["MemTotal:", str(PRESETS[preset].memory_kb)]
    cores = phone.run(["cat", "/sys/devices/system/cpu/possible"]).text.strip()
    assert cores == f"0-{PRESETS[preset].clusters[-1].last}"


def test_a_virtual_phone_is_marked(shared_phone):
    assert shared_phone.phone.run(["getprop", "ro.as2d.virtual"]).text == "1\n"


def test_a_jailed_phone_cannot_write_outside_itself(shared_phone, tmp_path):
    if shared_phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {shared_phone.reason}")
    shared_phone.phone.script('mkdir -p "$1"; echo x > "$1/x"', str(tmp_path), check=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandFailedError, match="Read-only file system"):
        shared_phone.phone.run(["touch", "/usr/as2d"])


def test_without_namespaces_the_phone_says_so_and_works_in_its_folder(start_phone):
    phone = start_phone(isolation="mapped")
    assert (phone.isolation, phone.reason) == ("mapped", "asked for")
    phone.phone.script('echo "$1" > /data/local/tmp/said', "hello")
    assert (phone.root / "data/local/tmp/said").read_text() == "hello\n"
    assert phone.phone.run(["getprop", "ro.serialno"]).text == f"{phone.own_serial}\n"
    phone.fault("sysfs-denied")
    with pytest.raises(CommandFailedError, match="Permission denied"):
        phone.phone.run(["cat", f"{BATTERY}/current_now"])
    with pytest.raises(VirtualPhoneError, match="needs a jailed phone"):
        phone.fault("read-only")


def test_a_pulled_plug_cuts_a_command_and_the_phone_comes_back_by_itself(start_phone):
    phone = start_phone()
    with phone.phone.open_shell("echo begun; sleep 600") as shell:
        output = shell.output()
        assert next(output) == ("out", b"begun\n")
        phone.fault("drop", s=0.2)
        with pytest.raises(PhoneLostError):
            next(output)
    assert phone.wait_ready().run(["echo", "back"]).text == "back\n"


def test_a_phone_that_is_unplugged_is_not_listed(start_phone):
    phone = start_phone()
    phone.fault("drop")
    assert phone.serial not in {entry.serial for entry in list_phones([phone.server])[0]}
    phone.fault("plug")
    phone.wait_ready()


def test_a_frozen_phone_passes_the_deadline(start_phone):
    phone = start_phone()
    phone.fault("freeze")
    began = time.monotonic()
    with pytest.raises(CommandTimeoutError, match=r"did not answer within 0\.4 s"):
        phone.phone.run(["true"], timeout_s=0.4)
    assert time.monotonic() - began < 60
    phone.fault("thaw")
    assert phone.phone.run(["echo", "awake"]).text == "awake\n"


@pytest.mark.parametrize(
    ("fault", "end", "error"),
    [("unauthorized", "authorize", UnauthorizedError), ("offline", "online", OfflineError)],
)
def test_a_phone_that_does_not_let_us_in_is_an_error_of_its_own(start_phone, fault, end, error):
    phone = start_phone()
    phone.fault(fault)
    wait_for(lambda: any(p.serial == phone.serial and not p.ready for p in phone.server.phones()))
    with pytest.raises(error) as caught:
        phone.phone.run(["true"], timeout_s=60)
    assert caught.value.hint
    phone.fault(end)
    assert phone.wait_ready().run(["true"]).code == 0


def test_a_slow_link_is_as_slow_as_asked(start_phone):
    phone = start_phone()
    phone.fault("slow", bytes_per_s=200_000)
    began = time.monotonic()
    phone.phone.run(["cat", ">", "/dev/null"], stdin=bytes(100_000), check=False)
    assert 0.4 < time.monotonic() - began < 60


def test_an_adb_daemon_that_starts_again_cuts_commands_but_ends_none_that_is_detached(start_phone):
    phone = start_phone()
    phone.phone.script("setsid sleep 600 < /dev/null > /dev/null 2>&1 & echo $! > /data/local/tmp/pid")
    phone.fault("adbd-restart", s=0.1)
    phone.wait_ready().script("kill -0 $(cat /data/local/tmp/pid)")
    phone.fault("reboot", s=0.1)
    with pytest.raises(CommandFailedError):
        phone.wait_ready().script("kill -0 $(cat /data/local/tmp/pid)")


SEEN = {
    "clock-drop": ({"khz": 1_000_000}, f"cat {CORES}/cpu7/cpufreq/scaling_max_freq", "3302400", "1000000"),
    "core-offline": ({"core": 6}, f"cat {CORES}/online", "0-7", "0-5,7"),
    "charging": ({}, "dumpsys battery | grep USB", "USB powered: false", "USB powered: true"),
    "current-sign": ({}, f"cat {BATTERY}/current_now", "412000", "-412000"),
    "temperature": ({"celsius": 47.5}, "dumpsys battery | grep temp", "temperature: 312", "temperature: 475"),
    "thermal-status": (
        {"status": 3},
        "dumpsys thermalservice | grep Status:",
        "Thermal Status: 0",
        "Thermal Status: 3",
    ),
}
BACK = {
    "clock-drop": ("clock-restore", {}),
    "core-offline": ("core-online", {"core": 6}),
    "charging": ("discharging", {}),
    "current-sign": ("current-sign", {}),
    "temperature": ("temperature", {"celsius": 31.2}),
    "thermal-status": ("thermal-status", {"status": 0}),
}


@pytest.mark.parametrize("fault", sorted(SEEN))
def test_a_fault_is_seen_where_android_shows_it_and_can_be_taken_back(shared_phone, fault):
    values, command, before, after = SEEN[fault]
    back, back_values = BACK[fault]

    def seen():
        return shared_phone.phone.script(command).text.strip()

    assert seen() == before
    shared_phone.fault(fault, **values)
    assert seen() == after
    shared_phone.fault(back, **back_values)
    assert seen() == before


def test_the_largest_process_is_killed_when_memory_runs_out(start_phone):
    phone = start_phone()
    with phone.phone.open_shell("exec sleep 600") as shell:
        wait_for(lambda: "sleep" in phone.phone.script("cat /proc/[0-9]*/comm", check=False).text.split())
        phone.fault("low-memory-kill")
        assert list(shell.output()) == []
        assert shell.exit_code == 137


def test_a_bounded_work_folder_fills_up_and_can_be_forbidden(start_phone):
    phone = start_phone(storage_mb=8)
    if phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {phone.reason}")
    for fault, reason in (("disk-full", "No space left on device"), ("read-only", "Read-only file system")):
        phone.fault(fault)
        with pytest.raises(CommandFailedError, match=reason):
            phone.phone.script("head -c 100000 /dev/zero > /data/local/tmp/x")
    phone.fault("remount")
    phone.fault("disk-free")
    phone.phone.script("printf '#!/bin/sh\\necho run' > /data/local/tmp/x; chmod 755 /data/local/tmp/x")
    assert phone.phone.run(["/data/local/tmp/x"]).text == "run\n"
    phone.fault("noexec")
    with pytest.raises(CommandFailedError, match="may not be executed"):
        phone.phone.run(["/data/local/tmp/x"])


def test_another_program_can_let_a_fault_happen(start_phone, tmp_path):
    phone = start_phone()
    fault_from_outside(phone.root, "charging")
    assert phone.phone.run(["cat", f"{BATTERY}/status"]).text == "Charging\n"
    for values, sentence in (({}, r"it needs khz=VALUE\."), ({"khz": "x"}, "one of its values is no number")):
        with pytest.raises(VirtualPhoneError, match=sentence):
            fault_from_outside(phone.root, "clock-drop", **values)
    with pytest.raises(VirtualPhoneError, match=r"No virtual phone runs in .*nowhere\. Start one with"):
        fault_from_outside(tmp_path / "nowhere", "charging")


def test_an_unknown_fault_names_the_known_ones(shared_phone):
    with pytest.raises(VirtualPhoneError, match="Known: drop"):
        shared_phone.fault("explode")
    assert "drop" in FAULTS


def test_the_phones_of_two_presets_are_two_phones(start_phone):
    first, second = start_phone("mi14"), start_phone("note9")
    names = {p.name for p in list_phones([first.server])[0] if p.serial in {first.serial, second.serial}}
    assert names == {PRESETS["mi14"].model, PRESETS["note9"].model}


def test_a_phone_that_has_ended_is_an_error(start_phone):
    phone = start_phone()
    phone.close()
    with pytest.raises(DeviceError):
        phone.phone.run(["true"], timeout_s=3)
    with pytest.raises(VirtualPhoneError, match="has ended"):
        phone.fault("charging")
