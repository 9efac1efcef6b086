import math
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.views import numbers

SHOWN = ("views", "pages", "notebook", "reports", "services")


@pytest.mark.parametrize(
    ("value_ms", "shown"),
    [
        (0.0123, "12.3 µs"),
        (0.9994, "999 µs"),
        (0.9996, "1.00 ms"),
        (59.391, "59.4 ms"),
        (999.4, "999 ms"),
        (999.6, "1.00 s"),
        (7282.0, "7.28 s"),
        (99_960.0, "100 s"),
        (1_234_567.0, "1,230 s"),
        (0.0, "0 ms"),
        (-59.391, "−59.4 ms"),
    ],
)
def test_times_have_three_significant_digits_and_the_unit_that_fits(value_ms, shown):
    assert numbers.duration(value_ms) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(40.2, "40 s"), (203.0, "3 min"), (5400.0, "1.5 h")])
def test_a_wait_is_given_in_the_unit_a_person_would_use(seconds, shown):
    assert numbers.wait(seconds) == shown


@pytest.mark.parametrize(
    "write",
    [
        numbers.duration,
        numbers.whole_ms,
        numbers.tps,
        numbers.share,
        numbers.signed_percent,
        numbers.percent,
        numbers.times_faster,
        numbers.count,
        numbers.size,
        numbers.temperature,
        numbers.power,
    ],
)
@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
def test_what_is_missing_is_never_written_as_a_number(write, nothing):
    assert write(nothing) == "n/a"


def test_throughput_shares_ratios_and_counts_are_written_one_way():
    assert numbers.tps(27.918) == "27.92 tok/s"
    assert numbers.share(0.0683) == "6.8 %"
    assert numbers.times_faster(1.638) == "1.64×"
    assert numbers.count(94511) == "94,511"
    assert numbers.sample_size(12) == "n = 12"
    assert numbers.size(20_100_000) == "20.1 MB"
    assert numbers.size(512) == "512 B"
    assert numbers.whole_ms(7282.4) == "7,282 ms"
    assert numbers.temperature(-3.25) == "−3.2 °C"
    assert numbers.power(4.2149) == "4.21 W"


def test_differences_carry_a_sign_a_unit_and_their_interval():
    assert numbers.signed_percent(64.62, (61.2, 67.9)) == "+64.6 % [61.2, 67.9]"
    assert numbers.signed_percent(-4.0) == "−4.0 %"
    assert numbers.signed_percent(1.0, (math.nan, 2.0)) == "+1.0 %"


def test_a_share_of_nothing_is_no_share():
    assert numbers.part(3, 5) == "3 of 5 (60.0 %)"
    assert numbers.part(0, 0) == "0 of 0"
    assert numbers.part(None, 5) == "n/a"


def test_one_thing_is_singular():
    assert numbers.counted(1, "token") == "1 token"
    assert numbers.counted(0, "token") == "0 tokens"
    assert numbers.counted(1200, "token") == "1,200 tokens"


@given(st.floats(min_value=1e-3, max_value=1e8))
def test_a_written_time_is_within_half_a_last_digit_of_the_value(value_ms):
    number, unit = numbers.duration(value_ms).replace(",", "").split(" ")
    scale = {"µs": 1e-3, "ms": 1.0, "s": 1e3}[unit]
    assert float(number) * scale == pytest.approx(value_ms, rel=5.1e-3)


@pytest.mark.parametrize("known", ["measured", "replayed", "published", "solved", "synthetic", "virtual", "emulated"])
def test_every_badge_says_what_it_means(known):
    assert numbers.badge(known).label == known
    assert numbers.badge(known).meaning != numbers.badge("something else").meaning


def test_an_unknown_or_missing_label_is_shown_and_not_hidden():
    assert numbers.badge("borrowed").label == "borrowed"
    assert numbers.badge(None).label == "unlabelled"


def test_a_gain_over_target_only_reads_the_same_everywhere():
    assert numbers.gain(27.92, 16.96) == pytest.approx(64.62, abs=0.01)
    assert numbers.against_target_only(64.62, (61.2, 67.9)) == "+64.6 % [61.2, 67.9] against target-only"
    assert numbers.against_target_only(-4.0) == "−4.0 % against target-only"


@pytest.mark.parametrize("pair", [(None, 17.0), (27.0, None), (27.0, 0.0), (math.nan, 17.0)])
def test_a_gain_without_both_rates_is_not_available(pair):
    assert numbers.gain(*pair) is None
    assert numbers.against_target_only(numbers.gain(*pair)) == "n/a"


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        ("2026-03-01T10:02:03.123456+00:00", "2026-03-01 10:02:03 UTC"),
        ("2026-03-01T12:02:03+02:00", "2026-03-01 10:02:03 UTC"),
        (datetime(2026, 3, 1, 10, 2, 3, 999, tzinfo=UTC), "2026-03-01 10:02:03 UTC"),
        ("2026-03-01T10:02:03", "2026-03-01 10:02:03 UTC"),
        (None, "n/a"),
        ("", "n/a"),
        ("yesterday", "yesterday"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_a_date_has_one_form_for_people_and_what_is_none_stays_as_it_is(when, shown):
    assert numbers.moment(when) == shown


def test_negative_numbers_have_one_minus_sign_and_zero_has_none():
    assert numbers.percent(-1.26, (-3.04, 0.5)) == "−1.3 % [−3.0, 0.5]"
    assert numbers.signed_percent(-0.04, (-0.04, 0.04)) == "+0.0 % [0.0, 0.0]"
    assert numbers.decimals(-1234.5, 2) == "−1,234.50"
    assert numbers.decimals(1.0, 1, signed=True) == "+1.0"
    assert numbers.whole(-12345) == "−12345"
    assert numbers.general(-0.0125, 2) == "−0.013"
    assert numbers.general(-1.2e-9, 2) == "−1.2e−09"


def test_a_sign_in_front_is_written_by_the_number_formats_alone():
    """A format with a sign anywhere else would write a hyphen where all other numbers have a minus sign."""
    folder = Path(numbers.__file__).parents[1]
    pages = [*folder.glob("ui*.py"), *(p for name in SHOWN for p in (folder / name).glob("*.py"))]
    assert len(pages) > 100
    signed = re.compile(r"""\{[^{}"]*:\+[^{}]*\}|["']%\+|\.replace\(["']-["'], numbers\.MINUS\)""")
    found = [(p.name, hit) for p in pages for hit in signed.findall(p.read_text("utf-8"))]
    assert [hit for hit in found if hit[0] != "numbers.py"] == []
