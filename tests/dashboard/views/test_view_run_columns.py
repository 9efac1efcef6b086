"""A stored run is drawn from its tables exactly as from its events."""

import numpy as np
import pytest
from view_samples import cut_off, decode

from as2d_core.records import RunRecord
from as2d_core.request import METHODS
from dashboard.views.run_columns import Lists, RunColumns, columns_of_record, columns_of_tables
from datastore.rows import event_tables


def same(a: RunColumns, b: RunColumns) -> bool:
    for name in RunColumns.__dataclass_fields__:
        mine, other = getattr(a, name), getattr(b, name)
        if isinstance(mine, Lists):
            mine, other = np.concatenate([mine.values, mine.offsets]), np.concatenate([other.values, other.offsets])
        assert np.array_equal(mine, other), name
    return True


@pytest.mark.parametrize("record", [*map(decode, METHODS), cut_off(0.5), RunRecord(decode().header)])
def test_tables_give_the_columns_that_the_events_give(record):
    tables = event_tables(record)
    assert same(columns_of_record(record), columns_of_tables(tables["spans"], tables["rounds"], tables["publications"]))
