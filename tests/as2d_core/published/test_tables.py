import pytest

from as2d_core.errors import UnknownNameError
from as2d_core.published.ledger import half_unit, ledger
from as2d_core.published.tables import Key, published_table, published_tables, table_ids

PHONES = {"k70": "Redmi K70 Pro", "11pro": "Xiaomi 11 Pro", "mi14": "Xiaomi 14", "note9": "Redmi Note 9 Pro"}
CELLS = {(table.id, cell.key): cell.printed for table in published_tables() for cell in table.cells}


def printed(table, **key):
    return CELLS[table, Key(**key)]


def rounded(value, text):
    return abs(value - float(text)) <= half_unit(text) + 1e-9


def test_the_tables_of_the_paper_that_replay_can_speak_about_are_there():
    assert table_ids() == ["1", "2", "4", "5", "8", "9", "10", "12", "D.4.3", "D.5"]


@pytest.mark.parametrize("table", published_tables(), ids=lambda table: table.id)
def test_every_cell_of_a_table_is_a_number_with_a_meaning_of_its_own(table):
    assert len(table.cells) == len(table.rows) * len(table.columns)
    assert len({cell.key for cell in table.cells}) == len(table.cells)
    assert all(float(cell.printed) >= 0 for cell in table.cells)


@pytest.mark.parametrize("phone", PHONES)
@pytest.mark.parametrize("group", ["LibriSpeech", "AMI", "FLEURS", "KeSpeech", "M4Singer", "all"])
def test_the_gains_of_table_8_are_those_of_the_ledger(phone, group):
    shown = "all five" if group == "all" else group
    figure = next(f for f in ledger() if f.name.startswith("Gain") and f.name.endswith(f"{PHONES[phone]}, {shown}"))
    over = ("target_only", "standard_sd", "specasr")
    assert printed("8", quantity="gain", phone=phone, group=group, over=over) == figure.published
    for method in over:
        assert printed("8", quantity="tps", phone=phone, group=group, method=method) == figure.inputs[method]


@pytest.mark.parametrize("phone", ["k70", "11pro"])
@pytest.mark.parametrize("group", ["LibriSpeech", "AMI", "FLEURS", "KeSpeech", "M4Singer", "all"])
def test_mean_and_range_of_table_9_are_those_of_its_rows(phone, group):
    shared = {"phone": phone, "group": group, "method": "standard_sd"}
    rows = [float(printed("9", quantity="tps", width=k, **shared)) for k in (5, 6, 7, 8)]
    mean = printed("9", quantity="tps", **shared)
    assert rounded(sum(rows) / 4, mean)
    assert float(printed("9", quantity="least_tps", **shared)) == min(rows)
    assert float(printed("9", quantity="most_tps", **shared)) == max(rows)
    assert printed("8", quantity="tps", **shared) == mean


@pytest.mark.parametrize("phone", PHONES)
@pytest.mark.parametrize("method", ["standard_sd", "specasr", "as2d"])
def test_the_shares_of_table_4_are_the_counts_of_table_12(phone, method):
    faster, slower = (int(printed("12", quantity=q, phone=phone, method=method)) for q in ("faster", "slower"))
    assert faster + slower == 688
    assert rounded(100 * slower / 688, printed("4", quantity="slower_share", phone=phone, method=method))


@pytest.mark.parametrize("phone", PHONES)
@pytest.mark.parametrize("method", ["as2d", "without_bc", "without_td"])
def test_table_5_repeats_table_8(phone, method):
    key = {"quantity": "tps", "phone": phone, "method": method}
    assert printed("5", **key) == printed("8", **key)


def test_an_unknown_table_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match=r"D\.4\.3"):
        published_table("D.43")
