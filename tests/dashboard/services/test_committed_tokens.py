import pytest

from datastore.outputs import committed_tokens
from datastore.timeline import load_record


@pytest.fixture
def kept(shelf):
    return shelf


def test_committed_tokens_are_those_of_the_record(kept):
    found = committed_tokens(kept, ["ours", "alone", "failed", "nowhere"])
    for name in ("ours", "alone"):
        assert list(found[name]) == load_record(kept, name).tokens
    assert found["failed"] == ()
    assert "nowhere" not in found


def test_nothing_asked_is_nothing_read(kept):
    assert committed_tokens(kept, []) == {}
