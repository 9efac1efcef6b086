"""What reports and ``as2d show`` say of the settings behind a run."""

import pytest

from as2d_core.operation_records import SelfTest
from as2d_core.records import SCHEMA_VERSION, RunHeader, RunRecord
from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.views.facts import self_test_text


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ({"1": 0, "6": 1, "12": 3}, "near ties that fell the other way: 1 row at width 6, 3 rows at width 12"),
        ({"1": 0, "2": 0}, "near ties that fell the other way: none at any width"),
        ({}, "near ties n/a"),
    ],
)
def test_a_self_test_tells_near_ties_by_width(differences, said):
    record = RunRecord(
        RunHeader(SCHEMA_VERSION, "r", Request("r", "as2d", ModelRef("t"), AudioRef("a")), {}, {}, "", "")
    )
    assert self_test_text(record) == ""
    record.self_tests.append(SelfTest("ab" * 32, (2, 4), "bit-equal", argmax_differences=differences))
    assert self_test_text(record).endswith(f": bit-equal at 2, 4, {said}")
