"""A phone's runs carry its name; a virtual phone's carry that it is one."""

from as2d_core.runner.device import android_facts, device_facts

PROPERTIES = {
    "ro.product.model": "23117RK66C",
    "ro.product.marketname": "Redmi K70 Pro",
    "ro.soc.manufacturer": "QTI",
    "ro.soc.model": "SM8650",
    "ro.build.version.sdk": "36",
}


def test_a_phone_goes_by_the_name_it_is_sold_under():
    facts = android_facts(PROPERTIES)
    assert (facts["name"], facts["soc"], facts["api_level"], facts["virtual"]) == (
        "Redmi K70 Pro",
        "QTI SM8650",
        36,
        None,
    )


def test_a_virtual_phone_says_so_in_its_name():
    assert android_facts({**PROPERTIES, "ro.as2d.virtual": "1"})["name"] == "Redmi K70 Pro (virtual)"


def test_two_phones_of_one_model_are_told_apart_without_their_serial_numbers():
    first, second = (android_facts({**PROPERTIES, "ro.serialno": serial}) for serial in ("8f3a12", "8f3a13"))
    assert first["unit"] != second["unit"]
    assert "8f3a12" not in str(first)
    assert first["unit"] == android_facts({**PROPERTIES, "ro.boot.serialno": "8f3a12"})["unit"]
    assert android_facts(PROPERTIES)["unit"] is None


def test_what_is_no_phone_keeps_its_own_facts():
    assert android_facts({}) == {}
    assert device_facts()["name"] == "This computer"
