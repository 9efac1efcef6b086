from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.validation import Report
from dashboard.services.validation import first_finding, validate_file


@given(name=st.text(min_size=1, max_size=50), line=st.none() | st.integers(1, 9), said=st.text(max_size=50))
def test_a_finding_is_one_line_that_names_file_and_line(name, line, said):
    text = first_finding(Path(name), Report(None, ((line, said),), 7))
    assert len(text.splitlines()) == 1
    assert f":{line or 7}: " in text
    text.encode()


def test_a_good_file_has_no_finding(tmp_path):
    assert first_finding(tmp_path, Report(None, (), 0)) is None


@pytest.mark.parametrize("name", ["missing.ndjson", "."])
def test_a_missing_file_is_a_finding(tmp_path, name):
    path = tmp_path / name
    assert first_finding(path, validate_file(path)).startswith(f"{path}:1: ")
