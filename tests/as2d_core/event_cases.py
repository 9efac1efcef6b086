"""Hypothesis strategies for every kind of line of the runner protocol."""

from dataclasses import fields

from hypothesis import strategies as st

from as2d_core.gates import Gates
from as2d_core.operation_records import Sample, SelfTest, Trajectory
from as2d_core.records import (
    EVENT_TYPES,
    LANES,
    SCHEMA_VERSION,
    SPAN_KINDS,
    STATUSES,
    WIDTH_REASONS,
    Conditions,
    End,
    Engine,
    Mark,
    Pieces,
    Publication,
    Round,
    RunHeader,
    Span,
    Telemetry,
    Unknown,
)
from as2d_core.request import METHODS, AudioRef, ModelRef, Placement, Request

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
some_text = text.filter(bool)
count = st.integers(0, 2**40)
time_ns = st.integers(0, 2**60)
number = st.floats(allow_nan=False, allow_infinity=False)
share = st.floats(0, 1)
optional_text = st.none() | text
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
mapping = st.dictionaries(text, plain, max_size=3)


def tokens(least=-(2**31), most=2**31, max_size=6):
    return st.lists(st.integers(least, most), max_size=max_size).map(tuple)


def extra(cls):
    known = {f.name for f in fields(cls)} | {"kind"}
    return st.dictionaries(text.filter(lambda name: name not in known), plain, max_size=2)


@st.composite
def span_of_time(draw):
    start = draw(time_ns)
    return {"start_ns": start, "end_ns": start + draw(count)}


models = st.builds(ModelRef, text, text, optional_text, st.none() | tokens(1, 64))
audio = st.builds(AudioRef, text, optional_text, st.none() | number, optional_text, number, st.none() | number)
placements = st.builds(Placement, tokens(0, 64), tokens(0, 64), count, count, text)
gates = st.builds(
    Gates,
    number,
    st.integers(-2, 20),
    number,
    st.booleans(),
    st.none() | number,
    st.none() | st.integers(0, 15),
    st.none() | number,
    st.none() | st.integers(0, 6),
    number,
)
requests = st.builds(
    Request,
    run_id=some_text,
    method=st.sampled_from(METHODS),
    target=models,
    audio=audio,
    drafter=st.none() | models,
    task=text,
    instruction=text,
    budget=st.none() | count,
    width=st.none() | count,
    draft_cap=st.none() | count,
    threshold=st.none() | number,
    search_window=count,
    batch_tokens=count,
    max_tokens=count,
    plain_step=st.booleans(),
    drafter_pace_ms=st.none() | number,
    placement=placements,
    repetition=count,
    order=count,
    warm_up=st.booleans(),
    group_id=optional_text,
    options=mapping,
    gates=st.none() | gates,
)


@st.composite
def spans(draw):
    return Span(
        draw(st.sampled_from(LANES)),
        draw(st.sampled_from(SPAN_KINDS)),
        **draw(span_of_time()),
        round=draw(st.none() | count),
        operations=draw(count),
        extra=draw(extra(Span)),
    )


@st.composite
def rounds(draw):
    return Round(
        index=draw(count),
        **draw(span_of_time()),
        width=draw(count),
        physical_width=draw(count),
        proposed=draw(count),
        accepted=draw(count),
        committed=draw(tokens()),
        candidates=draw(tokens()),
        origins=draw(text),
        cursor_before=draw(count),
        cursor_after=draw(count),
        visible=draw(count),
        source_running=draw(st.booleans()),
        width_reason=draw(st.sampled_from(WIDTH_REASONS)),
        moves=tuple(draw(st.lists(st.tuples(text, count, count), max_size=3))),
        call_ns=draw(count),
        extra=draw(extra(Round)),
    )


@st.composite
def publications(draw):
    batch = draw(tokens())
    confidences = st.none() | st.lists(st.none() | share, min_size=len(batch), max_size=len(batch)).map(tuple)
    return Publication(
        draw(text),
        draw(count),
        batch,
        draw(confidences),
        draw(time_ns),
        draw(st.none() | time_ns),
        draw(extra(Publication)),
    )


hex_text = st.binary(max_size=4).map(bytes.hex)
pieces = st.builds(
    Pieces,
    st.dictionaries(count.map(str), text, max_size=3),
    st.dictionaries(count.map(str), hex_text, max_size=3),
    extra(Pieces),
)
telemetry = st.builds(
    Telemetry,
    time_ns,
    st.none() | number,
    st.none() | number,
    st.none() | number,
    st.none() | st.booleans(),
    st.none() | st.integers(0, 6),
    st.none() | st.lists(st.none() | number, max_size=4).map(tuple),
    st.none() | count,
    extra(Telemetry),
)
conditions = st.builds(
    Conditions,
    time_ns,
    st.booleans(),
    st.lists(text, max_size=2).map(tuple),
    number,
    st.none() | count,
    st.none() | st.lists(st.none() | number, max_size=4).map(tuple),
    st.none() | number,
    st.none() | st.integers(0, 6),
    st.none() | st.booleans(),
    st.none() | st.booleans(),
    st.none() | st.booleans(),
    extra(Conditions),
)
headers = st.builds(
    RunHeader,
    st.just(SCHEMA_VERSION),
    some_text,
    requests,
    mapping,
    st.dictionaries(text, text, max_size=2),
    text,
    text,
    text,
    extra(RunHeader),
)
engines = st.builds(
    Engine, text, text, text, text, text, count, text, text, st.none() | tokens(0, 64), tokens(0, 64), tokens(1, 64)
)
self_tests = st.builds(
    SelfTest,
    text,
    tokens(1, 64),
    text,
    st.lists(tokens(1, 64), max_size=3).map(tuple),
    st.dictionaries(text, count, max_size=3),
    count,
    extra(SelfTest),
)
samples = st.builds(
    Sample, text, count, st.booleans(), st.none() | count, st.none() | count, count, st.booleans(), text, extra(Sample)
)
trajectories = st.builds(
    Trajectory,
    tokens(0),
    st.booleans(),
    text,
    tokens(0),
    st.lists(share, max_size=4).map(tuple),
    st.booleans(),
    tokens(0),
    st.lists(share, max_size=4).map(tuple),
    count,
    count,
    tokens(0),
    tokens(0),
    tokens(1),
    tokens(0),
    st.lists(share, max_size=4).map(tuple),
    st.none() | count,
    st.none() | share,
    extra(Trajectory),
)
marks = st.builds(Mark, text, time_ns, st.none() | count, extra(Mark))
ends = st.builds(
    End,
    st.sampled_from(STATUSES),
    count,
    st.dictionaries(text, count, max_size=3),
    text,
    optional_text,
    optional_text,
    extra(End),
)
unknown = st.builds(
    Unknown, some_text.filter(lambda name: name not in EVENT_TYPES), mapping.filter(lambda body: "kind" not in body)
)
BY_TYPE = {
    RunHeader: headers,
    Span: spans(),
    Publication: publications(),
    Round: rounds(),
    Mark: marks,
    Pieces: pieces,
    Telemetry: telemetry,
    Conditions: conditions,
    Engine: engines,
    SelfTest: self_tests,
    Sample: samples,
    Trajectory: trajectories,
    End: ends,
}
