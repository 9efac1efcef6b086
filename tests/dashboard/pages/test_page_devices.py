"""The Devices page: this computer, virtual phones over the real adb server, and every state in between."""

import json
import threading
from dataclasses import asdict, replace
from itertools import count

import pytest
from fake_native_trees import elf
from patience import wait_for

from as2d_core.native.built import Built
from as2d_core.request import AudioRef, ModelRef, Request
from dashboard import ui, ui_devices, ui_phones
from dashboard.services import set_ups
from device_bridge.errors import TransferStoppedError
from device_bridge.local import THIS_COMPUTER


@pytest.fixture(autouse=True)
def fresh(nobody, monkeypatch):
    """No answer of another test, and nobody's adb server."""
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(nobody))
    ui_devices._look.clear()
    ui_devices._calibrations.clear()


@pytest.fixture
def own_server(own_adb, monkeypatch):
    """The page asks the tests' own adb server."""
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))


def test_without_a_phone_the_page_says_how_to_connect_one_and_shows_this_computer(open_page):
    app = open_page("devices")
    assert "No phone is connected." in app.text
    assert "USB debugging" in app.text
    assert "connect it over the network, below" in app.text
    assert {"Address", "Pairing address", "Pairing code"} <= {field.label for field in app.test.text_input}
    assert "This computer" in [item.value for item in app.test.subheader]
    assert "Cores on-line" in app.text


def test_a_server_that_does_not_answer_is_a_sentence(open_page):
    assert "adb server" in open_page("devices").text


def test_every_button_that_takes_long_says_how_long(open_page):
    app = open_page("devices")
    assert any(button.label.startswith("Profile (about ") for button in app.test.button)
    assert "Run a request (time n/a: none has ended here)" in app.links


def test_a_phone_has_its_facts_its_checklist_and_the_state_of_this_moment(open_page, shared_phone, own_server):
    app = open_page("devices")
    assert shared_phone.preset.name in [item.value.replace("\\", "") for item in app.test.subheader]
    assert "virtual" in app.text
    assert f"QTI {shared_phone.preset.soc}" in app.text
    assert "arm64-v8a" in app.text
    assert "Battery temperature" in app.text
    assert "Read from: getprop ro.build.version.release" in app.html


def test_a_phone_on_a_cable_and_over_the_air_has_one_card(open_page, start_phone, own_server, own_adb):
    phone = start_phone("11pro")
    phone.fault("wifi")
    wait_for(lambda: len([p for p in own_adb.server.phones() if p.name == phone.preset.model and p.ready]) == 2)
    app = open_page("devices")
    assert [item.value.replace("\\", "") for item in app.test.subheader].count(phone.preset.name) == 1
    assert phone.own_serial in app.text
    assert app.text.count("): connected") >= 2


def test_a_phone_that_waits_for_permission_says_what_to_do(open_page, start_phone, own_server):
    phone = start_phone("mi14")
    phone.fault("unauthorized")
    app = open_page("devices")
    assert "Allow" in app.text or "allow" in app.text
    assert "Its facts are shown once it is ready." in app.text
    next(field for field in app.test.text_input if field.label == "Address").input("127.0.0.1:1")
    app.press("Connect")  # another one, over the network
    assert "Nothing listens at this port" in app.text


def test_a_press_counts_once_though_the_page_is_drawn_anew_before_the_script_has_come_to_it(open_page, monkeypatch):
    started = []
    monkeypatch.setattr(ui_devices, "start_virtual_phone", lambda _, preset: started.append(preset))
    app = open_page("devices")
    seen, looks = ui_phones.seen_phones, count()

    def a_phone_goes_meanwhile(workspace):
        return replace(seen(workspace), problems=("gone",)) if next(looks) == 1 else seen(workspace)

    monkeypatch.setattr(ui_phones, "seen_phones", a_phone_goes_meanwhile)
    app.press("Start it")
    assert len(started) == 1
    app.run()
    assert len(started) == 1


def test_a_press_that_was_not_answered_in_time_is_forgotten(open_page, monkeypatch):
    started = []
    monkeypatch.setattr(ui_devices, "start_virtual_phone", lambda _, preset: started.append(preset))
    monkeypatch.setattr(ui, "PRESS_KEPT_S", -1.0)
    open_page("devices").press("Start it")
    assert started == []


def test_a_profile_is_measured_at_a_click_and_can_be_cancelled(open_page, workspace, monkeypatch):
    app = open_page("devices")
    label = next(button.label for button in app.test.button if button.label.startswith("Profile ("))
    app.press(label)
    calibration = next(iter(ui_devices._calibrations(str(workspace.folders.root)).values()))
    assert calibration.over.wait(120)
    app.run()
    assert calibration.profile is not None or calibration.problem in app.text


def test_the_request_page_offers_the_phone_that_its_link_names_and_its_cores(open_page, shared_phone, own_server):
    app = open_page("request", device=shared_phone.own_serial, source="phone", **{"on-phone": "/sdcard/a.wav"})
    assert app.widget("text_input", "Its path on the phone").value == "/sdcard/a.wav"
    (choice,) = [box for box in app.test.selectbox if box.label == "Device"]
    assert choice.value == shared_phone.own_serial
    cores = [box.options for box in app.test.multiselect if box.label in ("Target cores", "Drafter cores")]
    assert cores == [[str(core) for core in range(8)]] * 2  # the phone's, not this computer's
    assert {"Target runs on", "Drafter runs on"} <= {box.label for box in app.test.selectbox}
    assert "Rest and checks before" in [box.label for box in app.test.toggle]
    address = {"gates": "1", "ceiling": "1881.6", "ceiling-core": "4"}
    app = open_page("request", device=shared_phone.own_serial, **address)
    fields = {box.label: box.value for box in app.test.number_input}
    asked = ("Rest before (s)", "Warmest battery (°C)", "Least frequency ceiling (MHz)", "Core of that ceiling")
    assert [fields[name] for name in asked] == [15, 40, 1881.6, 4]


def test_a_phone_is_set_up_with_the_native_runner_that_was_built_here_or_with_one_in_a_file(
    open_page, workspace, shared_phone, own_server, monkeypatch, tmp_path
):
    folder = workspace.folders.native_runners / "linux-arm64"
    folder.mkdir(parents=True)
    (folder / "as2d-runner").write_bytes(elf())
    about = Built(folder, "0" * 64, len(elf()), "linux-arm64", "aarch64", "linux", None, None, "3.6.1", ("llm",), "1")
    (folder / "about.json").write_text(json.dumps(asdict(about) | {"program": "as2d-runner"}, default=str))
    asked = []
    monkeypatch.setattr(set_ups, "set_native_up", lambda *given, **_: asked.append(given[2]))
    app = open_page("devices")
    app.choose("selectbox", "Runner", "linux-arm64")
    assert "MB to send, time n/a: not seen on this phone before." in app.text
    app.press("Set up")
    assert workspace.set_ups.wait(shared_phone.own_serial, 60)
    assert asked == [folder / "as2d-runner"]
    seen = {shared_phone.own_serial: {"bytes_per_s": 1e6, "rest_s": 300.0}}
    (workspace.folders.root / "set_up_times.json").write_text(json.dumps(seen))
    app.run()
    assert "Set up (about 5 min)" in [button.label for button in app.test.button]
    app.choose("selectbox", "Runner", "file")
    app.press("Set up")
    assert "Name the file of the native runner first." in app.text
    app.widget("text_input", "File of the runner").set_value(str(tmp_path / "mine"))
    app.press("Set up")
    assert workspace.set_ups.wait(shared_phone.own_serial, 60)
    assert asked[1:] == [tmp_path / "mine"]


def test_a_set_up_outlives_its_tab_is_seen_in_another_and_can_be_cancelled_there(
    open_page, workspace, shared_phone, own_server, monkeypatch
):
    begun = threading.Event()

    def until_cancelled(*_, say, cancel):
        say("Sending Python and MNN")
        begun.set()
        assert cancel.wait(60)
        raise TransferStoppedError("Setting up the phone was stopped.")

    monkeypatch.setattr(set_ups, "set_phone_up", until_cancelled)
    open_page("devices").press("Set up")
    assert begun.wait(60)
    other = open_page("devices")
    assert "Sending Python and MNN" in other.text
    assert "Set up" not in [button.label for button in other.test.button]
    other.press("Cancel")
    assert workspace.set_ups.wait(shared_phone.own_serial, 60)
    assert "was cancelled" in other.run().text
    assert "was cancelled" in open_page("devices").text
    other.press("Dismiss")
    assert "was cancelled" not in other.text


class PhoneThatWentAway:
    """A device as a phone is one while it is out of reach: its run goes on there."""

    id, name, outlives = "away", "Lab phone", True
    notice = "Lab phone is out of reach for 7 s; its run goes on."

    def run(self, _request, _take, cancel):
        assert cancel.wait(60)

    def detach(self): ...

    def rest(self): ...

    def close(self): ...


def test_a_phone_that_is_away_while_something_runs_there_keeps_its_card_and_its_cancel_button(open_page, workspace):
    workspace.jobs.add_device(PhoneThatWentAway())
    request = Request("far", "target-only", ModelRef("t"), AudioRef("a.wav"))
    job = workspace.jobs.submit("away", [request])
    app = open_page("devices")
    assert "Lab phone" in [item.value for item in app.test.subheader]
    assert "out of reach for 7 s" in app.text
    app.press("Cancel")
    assert job.wait(60)
    app.run()
    assert "Lab phone" not in [item.value for item in app.test.subheader]


class ComputerThatIsSlow(PhoneThatWentAway):
    """This computer, with a run that lasts until it is cancelled."""

    id, name, outlives, notice = THIS_COMPUTER, "This computer", False, ""


def test_of_two_people_on_one_server_the_second_cannot_start_a_job_on_the_same_device(open_page, workspace):
    first, second = open_page("devices"), open_page("devices")
    (label,) = [button.label for button in first.test.button if button.label.startswith("Profile (")]
    workspace.jobs.add_device(ComputerThatIsSlow())
    first.press(label)
    second.press(label)  # its tab still shows the button
    assert "Measuring" in second.text
    active = [job for job in workspace.jobs.jobs() if not job.finished]
    assert len(active) == 1
    active[0].cancel()
    assert active[0].wait(60)
