"""One phone over a cable and over the air is one phone: over the real adb server, and on lists that are made up."""

import pytest
from patience import wait_for

from device_bridge.adb import AdbServer, Identities, KnownPhone, PhoneEntry, list_phones, pick_phone
from device_bridge.adb.identity import LOOK_AGAIN_S, Route, _grouped
from device_bridge.errors import AmbiguousPhoneError, DeviceError

HERE = AdbServer()
CABLE = PhoneEntry(HERE, "8f3a12", "device", {"usb": "1-4", "model": "M", "transport_id": "1"})
AIR = PhoneEntry(HERE, "10.0.0.7:5555", "device", {"model": "M", "transport_id": "2"})
THIS = ("8f3a12", "M", "boot-1", "Big M")


def test_connections_of_one_phone_are_one_and_the_cable_comes_first():
    (phone,) = _grouped([(AIR, THIS), (CABLE, THIS)])
    assert (phone.id, phone.shown, phone.connections) == ("8f3a12", "8f3a12 (Big M)", (CABLE, AIR))


def test_a_connection_that_is_ready_comes_before_a_cable_that_is_not():
    sick = PhoneEntry(HERE, "8f3a12", "offline", {"usb": "1-4"})
    (phone,) = _grouped([(sick, THIS), (AIR, THIS)])
    assert (phone.entry, phone.ready) == (AIR, True)


@pytest.mark.parametrize("other", [("8f3a12", "M", "boot-2", "Big M"), ("8f3a12", "N", "boot-1", "")])
def test_two_phones_with_the_serial_number_of_their_maker_stay_two(other):
    phones = _grouped([(CABLE, THIS), (AIR, other)])
    assert [phone.id for phone in phones] == ["8f3a12", "10.0.0.7:5555"]


def test_a_phone_that_tells_nothing_goes_by_its_connection():
    phones = _grouped([(CABLE, None), (AIR, None)])
    assert [phone.id for phone in phones] == ["8f3a12", "10.0.0.7:5555"]
    assert phones[0].shown == "8f3a12 (M, which did not say who it is)"


def test_a_phone_is_followed_to_another_connection_but_never_to_another_phone():
    now = [KnownPhone("8f3a12", (CABLE, AIR))]
    route = Route(now[0], lambda: now)
    now[:] = [KnownPhone("other", (CABLE,))]
    route.lost(CABLE)
    assert route() == CABLE
    now[:] = [KnownPhone("8f3a12", (AIR,))]
    route.renew()
    assert route() == AIR


def test_somebody_who_is_lost_again_and_again_does_not_ask_again_and_again():
    asked = []
    route = Route(KnownPhone("8f3a12", (CABLE,)), lambda: asked.append(1) or [])
    for _ in range(50):
        route.lost(CABLE)
    assert (len(asked), LOOK_AGAIN_S) == (1, 1.0)


def connections(phone, count):
    """The entries of a virtual phone once there are so many."""

    def found():
        identities = Identities()
        known = [p for p in identities.phones(list_phones([phone.server])[0]) if p.id == phone.own_serial]
        there = known and len(known[0].connections) == count and known[0].connections[-1].ready
        return (identities, known[0]) if there else None

    return wait_for(found)


def test_a_phone_with_two_connections_is_named_by_any_of_its_names(start_phone):
    phone = start_phone()
    phone.fault("wifi")
    _, known = connections(phone, 2)
    for name in known.names:
        assert pick_phone([phone.server], name).id == phone.own_serial
    assert len(known.names) == 5
    phone.fault("wifi-off")
    connections(phone, 1)


def test_each_connection_is_asked_once(start_phone, monkeypatch):
    phone = start_phone()
    identities, known = connections(phone, 1)

    def ask(_):
        raise AssertionError("it was asked")

    monkeypatch.setattr("device_bridge.adb.identity._ask", ask)
    assert identities.phones(known.connections) == (known,)


def test_two_phones_need_a_name(start_phone):
    first, second = start_phone("k70"), start_phone("k70")
    with pytest.raises(AmbiguousPhoneError):
        pick_phone([first.server], first.preset.model)
    assert pick_phone([first.server], second.own_serial).serial == second.serial


def test_work_goes_on_over_the_air_when_the_cable_is_pulled(start_phone):
    from device_bridge.adb import AdbPhone
    from device_bridge.retrying import USUAL, retrying

    phone = start_phone()
    phone.fault("wifi")
    _, known = connections(phone, 2)
    cable = next(entry for entry in known.connections if entry.serial == phone.serial)
    known = KnownPhone(known.id, (cable, *(entry for entry in known.connections if entry != cable)))
    identities = Identities()
    route = Route(known, lambda: identities.phones(list_phones([phone.server])[0]))
    adb = AdbPhone(cable.server, cable.serial, route)
    assert adb.run(["echo", "1"]).text == "1\n"
    phone.fault("cable")
    assert retrying(lambda: adb.run(["echo", "2"]).text, USUAL) == "2\n"
    assert route().serial != phone.serial
    with pytest.raises(DeviceError):
        AdbPhone(cable.server, cable.serial).run(["true"])
