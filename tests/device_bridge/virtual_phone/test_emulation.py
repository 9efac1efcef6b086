"""A virtual phone runs arm64 programs where an emulator is installed, however deep they are started."""

import struct

import pytest

from device_bridge.errors import CommandFailedError, VirtualPhoneError
from device_bridge.virtual_phone.emulation import find_emulator, register

EXIT_42 = struct.pack("<3I", 0xD2800540, 0xD2800BA8, 0xD4000001)
"""mov x0, #42; mov x8, #93 (exit); svc #0"""


def arm64_program():
    """The smallest static program for arm64 Linux: it ends with code 42."""
    base, head = 0x400000, 64 + 56
    elf = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH",
        b"\x7fELF", 2, 1, 1, 0, 2, 183, 1, base + head, 64, 0, 0, 64, 56, 1, 64, 0, 0,
    )  # fmt: skip
    size = head + len(EXIT_42)
    return elf + struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x10000) + EXIT_42


def put_program(phone):
    phone.script('cat > "$1" && chmod 755 "$1"', "/data/local/tmp/program", stdin=arm64_program())
    return "/data/local/tmp/program"


@pytest.fixture
def arm_phone(start_phone):
    emulator = find_emulator()
    if emulator is None:
        pytest.skip("qemu-aarch64 is not installed (Debian: qemu-user-static)")
    try:
        return start_phone(emulator=emulator).phone
    except VirtualPhoneError as error:
        pytest.skip(str(error))


def test_an_arm64_program_runs_and_its_exit_code_comes_back(arm_phone):
    assert arm_phone.run([put_program(arm_phone)], check=False).code == 42


def test_an_arm64_program_that_a_script_starts_runs_as_well(arm_phone):
    script = 'sh -c "exec $1"; echo "it ended with $?"'
    assert arm_phone.script(script, put_program(arm_phone)).text == "it ended with 42\n"


def test_without_an_emulator_an_arm64_program_cannot_be_executed(start_phone):
    if find_emulator() is None:
        pytest.skip("this computer runs arm64 programs itself, or has no emulator to leave out")
    phone = start_phone().phone
    program = put_program(phone)
    result = phone.run([program], check=False)
    if result.code == 42:
        pytest.skip("this computer hands arm64 programs to an emulator everywhere")
    with pytest.raises(CommandFailedError):
        phone.run([program])


def test_arm64_programs_and_no_namespaces_do_not_go_together(start_phone, tmp_path):
    with pytest.raises(VirtualPhoneError, match="only on a host that has namespaces"):
        start_phone(isolation="mapped", emulator=tmp_path / "qemu")


def test_a_kernel_that_does_not_take_an_emulator_is_a_sentence(tmp_path):
    with pytest.raises(VirtualPhoneError, match=r"does not hand arm64 programs to qemu.*Linux 6\.7"):
        register(tmp_path / "nowhere", tmp_path / "qemu")
