import numpy as np
import pytest
from sample_runs import MS, events

from as2d_core.records import Span, Telemetry
from datastore.ingest import ingest_run
from datastore.recycling import delete_run
from datastore.sweeps import group_readings, preparation_ms


def body(readings=2):
    first, *rest = events()
    spans = [Span("target", "encode", 0, 3 * MS), Span("target", "prefill", 3 * MS, 5 * MS)]
    spans.append(Span("drafter", "encode", 0, 50 * MS))
    hot = [Telemetry(i * 1_000 * MS, 30.0 + i, None, None, None, None, (1000.0, 2000.0 + i)) for i in range(readings)]
    return [first, *spans, *rest[:-2], *hot, *rest[-2:]]


@pytest.fixture
def group(store, sample):
    for name in ("a", "b"):
        ingest_run(store, sample(name, body()))
    ingest_run(store, sample("other", body(), group_id="g2"))
    return store


def test_preparation_is_the_targets_encoding_and_prefill(group):
    assert preparation_ms(group, "g1") == {"a": 5.0, "b": 5.0}


def test_readings_are_of_the_group_in_seconds_since_the_request(group):
    found = group_readings(group, "g1")
    assert sorted(set(found.run_id.tolist())) == ["a", "b"]
    own = found.run_id == "a"
    assert 1.0 in found.offset_s[own].tolist()
    assert np.nanmax(found.fastest_mhz[own]) == 2001.0
    assert found.every == 1


def test_more_readings_than_asked_for_are_thinned_out(store, sample):
    ingest_run(store, sample("long", body(1000)))
    found = group_readings(store, "g1", most=100)
    assert found.every > 1
    assert 50 <= len(found.run_id) <= 100


def test_runs_in_the_bin_and_groups_without_runs_say_nothing(group):
    delete_run(group, "a")
    assert set(preparation_ms(group, "g1")) == {"b"}
    assert preparation_ms(group, "nowhere") == {}
    assert len(group_readings(group, "nowhere").run_id) == 0
