import pytest
from view_checks import check_figure, texts
from view_samples import cut_off, decode

from as2d_core.accounting import summarise
from as2d_core.records import Mark, RunRecord, Span
from as2d_core.request import METHODS
from dashboard.views.account import account_figure, account_info
from dashboard.views.theme import DARK, LIGHT

MS = 1_000_000


def run_of(spans, end_ms):
    """A record with given spans: (lane, work, start ms, end ms)."""
    record = RunRecord(decode().header)
    record.marks = {"decode_start": Mark("decode_start", 0, 1), "eos": Mark("eos", end_ms * MS)}
    record.spans = [Span(lane, work, round(a * MS), round(b * MS)) for lane, work, a, b in spans]
    return record


OVERLAPPED = run_of([("drafter", "draft", 0, 60), ("target", "verify", 20, 80)], 100)


@pytest.mark.parametrize("method", METHODS)
def test_parts_are_those_of_the_run_s_own_account(method):
    record = decode(method)
    account = summarise(record).account
    info = account_info(record)
    assert info.total_ms == account.total_ns / 1e6
    assert info.draft_ms + info.verify_ms - info.overlap_ms + info.idle_ms == pytest.approx(info.total_ms)
    assert info.bound_ms == account.bound_ns / 1e6
    lengths = {part.name: part.length_ms for part in info.parts}
    assert lengths.get("D", 0) == info.draft_ms
    assert lengths.get("O", 0) == info.overlap_ms


def test_where_the_target_did_nothing_no_bound_is_claimed_to_be_reached():
    info = account_info(run_of([("drafter", "draft", 0, 28)], 28))
    assert "the target has not worked" in info.sentence.lower()
    assert info.bound_sentence == ""


def test_the_rows_share_exactly_the_time_where_both_work():
    info = account_info(OVERLAPPED)
    parts = {p.name: (p.start_ms, p.start_ms + p.length_ms) for p in info.parts}
    assert parts == {"D": (0.0, 60.0), "V": (20.0, 80.0), "H": (80.0, 100.0), "O": (20.0, 60.0)}


def test_the_equation_adds_up_as_it_is_written():
    assert account_info(OVERLAPPED).equation == "T = D + V − O + H = 60 + 60 − 40 + 20 = 100 ms"
    rounding = run_of([("drafter", "draft", 0, 10.4), ("target", "verify", 10.4, 20.8)], 21)
    assert account_info(rounding).equation == "T = D + V − O + H = 10.4 + 10.4 − 0.0 + 0.2 = 21.0 ms"


def test_what_is_promised_is_what_the_account_allows():
    info = account_info(OVERLAPPED)
    assert info.target_speedup == pytest.approx(100 / 60)
    assert info.bound_speedup == pytest.approx(100 / 80)
    assert info.sentence == "So far: at most 1.67× faster if nothing but the target remained (T / V)."
    assert "max(D, V) + H = 80 ms: 1.25× at most" in info.bound_sentence


def test_a_run_that_only_waits_for_the_target_is_promised_nothing():
    info = account_info(decode("target-only"))
    assert info.sentence.startswith("Nothing but the target's own work is left")
    assert "this run has reached it" in info.bound_sentence


def test_a_run_that_broke_off_is_accounted_so_far():
    info = account_info(cut_off(0.6))
    assert not info.complete
    assert info.sentence.startswith("So far: ")


def test_without_decoding_there_is_a_sentence_and_no_bar():
    info = account_info(RunRecord(decode().header))
    assert info.sentence == info.empty == "There is no decoding time yet."
    assert info.bound_speedup is None
    assert len(account_figure(info, LIGHT).data) == 0


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_bar_is_as_long_as_the_run_and_every_part_is_named_on_it(theme):
    info = account_info(OVERLAPPED)
    body = check_figure(account_figure(info, theme))
    bars = {t["name"]: (t["base"][0], t["x"][0]) for t in body["data"]}
    assert bars == {"account:D": (0.0, 60.0), "account:V": (20.0, 60.0), "account:H": (80.0, 20.0)}
    shown = " ".join(texts(body))
    for name in ("D 60 ms", "V 60 ms", "H 20 ms", "O 40 ms", "T = 100 ms"):
        assert name in shown
