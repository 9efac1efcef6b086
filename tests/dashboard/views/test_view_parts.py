import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_samples import decode

from as2d_core.accounting import account
from as2d_core.records import RunRecord, Span
from as2d_core.request import METHODS
from dashboard.views.parts import MEANINGS, PARTS, complement, intersection, length_ns, part_info, union, work_of
from dashboard.views.run_columns import columns_of_record
from dashboard.views.timeline_info import timeline_info

STRETCHES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12)
SPANS = st.lists(
    st.tuples(
        st.sampled_from(["drafter", "target"]),
        st.sampled_from(["draft", "drain", "verify", "step", "load"]),
        st.integers(-20, 120),
        st.integers(0, 40),
    ),
    max_size=20,
)


def covered(stretches):
    return {t for a, b in np.asarray(stretches).reshape(-1, 2).tolist() for t in range(a, b)}


@given(SPANS)
def test_the_stretches_of_every_part_are_as_long_as_the_account_says(spans):
    record = RunRecord(decode().header)
    record.spans = [Span(lane, work, start, start + length) for lane, work, start, length in spans]
    told = account(record.spans, 0, 100)
    work = work_of(columns_of_record(record), 0, 100)
    lengths = {name: length_ns(work.part(name)) for name in PARTS}
    assert lengths == {"D": told.draft_ns, "V": told.verify_ns, "O": told.overlap_ns, "H": told.idle_ns}


@given(STRETCHES, STRETCHES)
def test_unions_and_intersections_cover_what_sets_of_instants_do(first, second):
    a, b = (union(np.array(s, np.int64).reshape(-1, 2)) for s in (first, second))
    assert covered(a) == covered([(x, y) for x, y in first if y > x])
    assert covered(intersection(a, b)) == covered(a) & covered(b)
    assert covered(complement(a, 60)) == set(range(60)) - covered(a)
    assert (a[1:, 0] > a[:-1, 1]).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_run_s_parts_add_up_to_its_time(method):
    work = timeline_info(decode(method)).work
    d, v, o, h = (length_ns(work.part(name)) for name in PARTS)
    assert d + v - o + h == work.total_ns


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_a_sentence_and_leads_to_its_longest_pieces(name):
    info = part_info(timeline_info(decode("as2d")).work, name)
    assert info.sentence.startswith(f"{name} = ")
    assert MEANINGS[name] in info.sentence
    lengths = [b - a for a, b in info.longest]
    assert lengths == sorted(lengths, reverse=True)
    assert len(info.longest) <= 3


def test_a_part_without_a_moment_has_no_pieces():
    info = part_info(timeline_info(decode("target-only")).work, "D")
    assert (info.total_ms, len(info.begin_ms), info.longest) == (0, 0, ())
