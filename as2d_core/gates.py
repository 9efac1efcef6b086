"""What must hold before a measured episode begins? (Appendix D.2.3)

Nothing on the device is changed to meet it: an episode waits until it holds, or fails with what was missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_REST_S = 90.0
"""A runner that rests longer would be taken for one that hangs."""
LONGEST_PATIENCE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Gates:
    """Limits; one of ``None`` is not checked.

    All cores on-line, 15 s of rest and two checks five seconds apart are the paper's. Its run on the
    Xiaomi 11 Pro also asked for a ceiling of at least 1881.6 MHz on core 4. The temperature limits are
    this project's own.
    """

    rest_s: float = 15.0
    """Least time without work before the first check."""
    checks: int = 2
    """Checks in a row that must all hold."""
    check_gap_s: float = 5.0
    """Time between two checks."""
    all_cores: bool = True
    """Every core the device has must be on-line."""
    ceiling_mhz: float | None = None
    """Least frequency ceiling of ``ceiling_core``, or of the fastest core."""
    ceiling_core: int | None = None
    max_battery_c: float | None = 40.0
    max_thermal_status: int | None = 1
    """Android's scale: 0 none, 1 light, 2 moderate, 3 severe, 4 critical, 5 emergency, 6 shutdown."""
    patience_s: float = 600.0
    """How long an episode waits for its conditions before it fails."""


def gate_faults(gates: Gates) -> Iterator[str]:
    """Everything that keeps gates from being applied, one sentence each."""
    if not 0 <= gates.rest_s <= LONGEST_REST_S:
        yield f"The rest before an episode is {gates.rest_s:g} s; choose 0 to {LONGEST_REST_S:g}."
    if not 1 <= gates.checks <= 10:
        yield f"{gates.checks} checks before an episode cannot be; choose 1 to 10."
    if not 0 <= gates.check_gap_s <= 60:
        yield f"Checks {gates.check_gap_s:g} s apart cannot be; choose 0 to 60."
    if not 0 <= gates.patience_s <= LONGEST_PATIENCE_S:
        yield f"An episode waits for its conditions 0 to {LONGEST_PATIENCE_S:g} s, not {gates.patience_s:g}."
