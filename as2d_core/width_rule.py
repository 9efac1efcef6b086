"""How many of the candidates that are ready go into one verification, when the device's costs decide?

A proposal budget takes as many as it may. A width rule takes as many as make a committed token
cheapest: it knows what each width costs on the device and how often the first k candidates of a
chain were accepted on development windows. Both are folded into two small tables, so that applying
the rule costs one look-up, and the native loop and replay share it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WidthRule:
    """How many of m ready candidates one verification takes, for m = 0, 1, 2, ...

    Candidates are counted after the confidence stop and the output cap, so that the rule only ever
    shortens a chain. Both tables have b + 1 entries; b is the largest budget the rule covers.
    """

    concurrent: tuple[int, ...]
    """While the producer runs: ``concurrent[m]`` of m candidates, 0 for a K = 1 round."""
    idle: tuple[int, ...]
    """When nothing runs beside the target."""
    name: str = ""
    """Whose costs and which development windows it was made from."""

    @property
    def max_budget(self) -> int:
        """Largest proposal budget the rule covers."""
        return len(self.idle) - 1

    @property
    def table(self) -> tuple[int, ...]:
        """Both tables one behind the other, as ``ruled_length`` reads them."""
        return (*self.idle, *self.concurrent)


def ruled_length(table: Sequence[int], ready: int, running: bool) -> int:
    """How many of ``ready`` candidates the next verification takes.

    Args:
        table: ``WidthRule.table``, or nothing: then all of them.
        ready: candidates that could be taken; fewer than half of the table's entries.
        running: whether the producer runs when the round begins.
    """
    size = len(table) // 2
    if size == 0:
        return ready
    if running:
        return table[size + ready]
    return table[ready]


def width_rule_faults(rule: WidthRule) -> Iterator[str]:
    """Everything that keeps a rule from being applied, as clauses without a full stop."""
    if not rule.idle or len(rule.idle) != len(rule.concurrent):
        yield f"its tables have {len(rule.concurrent)} and {len(rule.idle)} entries; they need equally many"
    for name, table in (("concurrent", rule.concurrent), ("idle", rule.idle)):
        for ready, taken in enumerate(table):
            if not 0 <= taken <= ready:
                yield f"{name} takes {taken} of {ready} ready candidates"
                break
