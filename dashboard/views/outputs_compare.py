"""Do runs say the same? The first token and the words in which an output differs from the reference's."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from rapidfuzz.distance import Levenshtein

from dashboard.views import numbers, text
from dashboard.views.run_groups import RunGroup, Work, work
from dashboard.views.run_labels import ended, same_output
from dashboard.views.runs import Row
from dashboard.views.text import element, escape, visible
from dashboard.views.theme import FONT, Theme, faded

MOST_LISTED = 200
MOST_WORDS = 4_000
"""Words of an output that are laid beside another's."""
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""A word, or one character of a script that puts no spaces between words."""


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One run beside the reference's run of the same work."""

    run_id: str
    reference_id: str
    name: str
    window: str
    verdict: str
    """``equal``, ``different``, or ``n/a`` with the reason."""
    first: int | None
    """Place of the first token that differs, counted from 0; ``None`` when equal or not known."""
    edits: int | None
    """Fewest words to put in, take out or replace to make the reference's text of it."""
    words: int | None
    """Words of the reference."""


@dataclass(frozen=True, slots=True)
class OutputsInfo:
    """Runs that differ first, then those that cannot be compared."""

    rows: tuple[OutputRow, ...]
    equal: int
    different: int
    unknown: int
    reference: str

    @property
    def sentence(self) -> str:
        """Counts in one line."""
        whole = self.equal + self.different
        if not whole:
            return f"No output can be compared with one of {self.reference}."
        said = f"{numbers.part(self.equal, whole)} outputs have the tokens of {self.reference}"
        return f"{said}; {self.unknown:,} cannot be compared." if self.unknown else f"{said}."


def first_difference(mine: Sequence[int], theirs: Sequence[int]) -> int | None:
    """Place of the first token that differs, or the length of the shorter one; ``None`` when both are equal."""
    if list(mine) == list(theirs):
        return None
    pairs = zip(mine, theirs, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(mine), len(theirs)))


def split_words(said: str) -> list[str]:
    """Words of a text; of Chinese, Japanese and Korean, characters."""
    return _WORDS.findall(said)


def outputs_info(
    groups: Sequence[RunGroup], reference: str, tokens: Mapping[str, Sequence[int]] | None = None
) -> OutputsInfo:
    """Hold every run of the other groups against the reference's newest finished run of the same work.

    Args:
        groups: see ``run_groups``.
        reference: name of one of them.
        tokens: committed tokens by run id, of runs that differ; without them, the first difference is not known.
    """
    base: dict[Work, Row] = {}
    for group in groups:
        if group.name == reference:
            for row in group.pooled:
                key = work(row)
                if key not in base or _when(row) >= _when(base[key]):
                    base[key] = row
    rows, equal = [], 0
    for group in groups:
        if group.name == reference:
            continue
        for row in group.rows:
            found = _row(group.name, row, base.get(work(row)), tokens or {})
            equal += found.verdict == "equal"
            if found.verdict != "equal":
                rows.append(found)
    rows.sort(key=lambda r: (r.verdict != "different", -(r.edits or 0), r.name, r.window))
    different = sum(row.verdict == "different" for row in rows)
    return OutputsInfo(tuple(rows), equal, different, len(rows) - different, reference)


def differing(groups: Sequence[RunGroup], reference: str) -> list[str]:
    """Ids of runs whose tokens must be read to say where they differ, each with its reference's."""
    found = outputs_info(groups, reference)
    names: dict[str, None] = {}
    for row in found.rows[:MOST_LISTED]:
        if row.verdict == "different":
            names |= dict.fromkeys((row.run_id, row.reference_id))
    return list(names)


def _when(row: Row) -> tuple[str, str]:
    return str(row.get("created_at") or ""), str(row.get("run_id"))


def _row(name: str, row: Row, base: Row | None, tokens: Mapping[str, Sequence[int]]) -> OutputRow:
    run_id, window = str(row.get("run_id")), str(work(row)[0])
    if base is None:
        return OutputRow(run_id, "", name, window, f"{numbers.NA}: no reference", None, None, None)
    reference_id = str(base.get("run_id"))
    if row.get("status") not in ("eos", "capped"):
        said = f"{numbers.NA}: {ended(row.get('status'))}"
        return OutputRow(run_id, reference_id, name, window, said, None, None, None)
    mine, theirs = row.get("output_sha256"), base.get("output_sha256")
    if mine is None or theirs is None:
        return OutputRow(run_id, reference_id, name, window, f"{numbers.NA}: no tokens", None, None, None)
    if mine == theirs:
        return OutputRow(run_id, reference_id, name, window, same_output(True), None, 0, None)
    first = None
    if run_id in tokens and reference_id in tokens:
        first = first_difference(tokens[run_id], tokens[reference_id])
    a, b = split_words(row.get("text") or ""), split_words(base.get("text") or "")
    return OutputRow(run_id, reference_id, name, window, same_output(False), first, Levenshtein.distance(a, b), len(b))


def outputs_table(info: OutputsInfo) -> pd.DataFrame:
    """Runs whose output differs or cannot be compared, as text."""
    rows = info.rows[:MOST_LISTED]
    return pd.DataFrame(
        {
            "Setting": [visible(row.name, spaces=False) for row in rows],
            "Window": [text.shortened(visible(row.window, spaces=False)) for row in rows],
            "Output": [row.verdict for row in rows],
            "First difference": [numbers.NA if row.first is None else f"token {row.first:,}" for row in rows],
            "Word edits": [_edits(row) for row in rows],
            "Run": [text.shortened(visible(row.run_id, spaces=False)) for row in rows],
        }
    )


def _edits(row: OutputRow) -> str:
    """Number and rate of the edits, over the words of the reference."""
    if row.edits is None or row.words is None:
        return numbers.NA
    rate = f" ({numbers.share(row.edits / row.words)})" if row.words else ""
    return f"{row.edits:,} on {row.words:,} words{rate}"


def difference_html(mine: str, theirs: str, theme: Theme) -> str:
    """The first text with what the second says in its place: added words are underlined, left-out ones struck out."""
    a, b = split_words(theirs)[:MOST_WORDS], split_words(mine)[:MOST_WORDS]
    gone = {"color": theme.role("rejected"), "background": faded(theme.role("rejected"), 0.12)}
    new = {"color": theme.role("accepted"), "background": faded(theme.role("accepted"), 0.12)}
    parts: list[str] = []
    for step in Levenshtein.opcodes(a, b):
        before, after = " ".join(a[step.src_start : step.src_end]), " ".join(b[step.dest_start : step.dest_end])
        if step.tag == "equal":
            parts.append(escape(visible(before, spaces=False)))
            continue
        if before:
            parts.append(element("del", escape(visible(before, spaces=False)), gone))
        if after:
            parts.append(element("ins", escape(visible(after, spaces=False)), new))
    style = {"font-family": FONT, "font-size": "14px", "line-height": "1.7", "color": theme.text}
    return element("div", " ".join(parts), {**style, "overflow-wrap": "anywhere"})
