"""Published figures by our own accounting: the functions that replays and native runs are counted with."""

from collections.abc import Callable, Mapping

import numpy as np

from as2d_core.accounting import account
from as2d_core.errors import PublishedError, unknown_name
from as2d_core.records import Span
from as2d_core.replay.kernel import replay_target_only
from as2d_core.replay.pooling import gain_percent, gap_percent, pooled_tps, slowdown

Inputs = Mapping[str, float]


def recompute(function: str, inputs: Inputs) -> float:
    """One figure from named inputs.

    Raises:
        UnknownNameError: there is no such function.
        PublishedError: an input is missing, or the figure has no value.
    """
    if function not in FUNCTIONS:
        raise unknown_name("accounting function", function, sorted(FUNCTIONS))
    try:
        value = FUNCTIONS[function](inputs)
    except KeyError as error:
        raise PublishedError(f"{function} needs {error.args[0]}, which is not among its inputs.") from error
    except ZeroDivisionError as error:
        raise PublishedError(f"{function} has no value for {dict(inputs)}.") from error
    if value is None:
        raise PublishedError(f"{function} has no value for {dict(inputs)}.")
    return value


def _tps(inputs: Inputs) -> float | None:
    return _pooled([inputs["tokens"]], [inputs["seconds"] * 1e3])


def _target_only_tps(inputs: Inputs) -> float | None:
    # The first token of each window costs no step: as one window that is shorter by the others' first tokens.
    steps = round(inputs["tokens"] - inputs["windows"]) + 1
    return _pooled([inputs["tokens"]], [replay_target_only(steps, inputs["step_ms"])])


def _target_only_s(inputs: Inputs) -> float:
    return replay_target_only(round(inputs["tokens"]), inputs["step_ms"]) / 1e3


def _standard_sd_tps(inputs: Inputs) -> float | None:
    verify_ms = inputs["rounds"] * (inputs["verify_ms"] + inputs["loop_ms"])
    return _pooled([inputs["tokens"]], [verify_ms + inputs["forwards"] * inputs["draft_ms"]])


def _phones_pooled_tps(inputs: Inputs) -> float | None:
    return _pooled([1.0] * len(inputs), [1e3 / tps for tps in inputs.values()])


def _gain(inputs: Inputs) -> float | None:
    return gain_percent(inputs["tps"], max(tps for name, tps in inputs.items() if name != "tps"))


def _gap(inputs: Inputs) -> float | None:
    return gap_percent(inputs["tps"], inputs["oracle"])


def _reach(inputs: Inputs) -> float | None:
    gap = _gap(inputs)
    return None if gap is None else 100 - gap


def _slower_share(inputs: Inputs) -> float | None:
    slower, windows = round(inputs["slower"]), round(inputs["windows"])
    counted = slowdown(np.repeat([0.5, 2.0], [slower, windows - slower]))
    return None if counted is None else 100 * counted.share


def _drafting_share(inputs: Inputs) -> float:
    draft_ms = inputs["forwards"] * inputs["draft_ms"]
    verify_ms = inputs["rounds"] * (inputs["verify_ms"] + inputs["loop_ms"])
    return _serial_share(draft_ms, draft_ms + verify_ms)


def _drafting_share_of_tps(inputs: Inputs) -> float:
    return _serial_share(inputs["draft_s"] * 1e3, inputs["tokens"] / inputs["tps"] * 1e3)


def _serial_share(draft_ms: float, total_ms: float) -> float:
    """Share of drafting in percent when the target works for the rest of the time."""
    drafted, end = round(draft_ms * 1e6), round(total_ms * 1e6)
    spans = [Span("drafter", "draft", 0, drafted), Span("target", "verify", drafted, end)]
    whole = account(spans, 0, end)
    return 100 * whole.draft_ns / whole.total_ns


def _pooled(tokens: list[float], time_ms: list[float]) -> float | None:
    return pooled_tps(np.array(tokens), np.array(time_ms))


FUNCTIONS: Mapping[str, Callable[[Inputs], float | None]] = {
    "tps": _tps,
    "target_only_tps": _target_only_tps,
    "target_only_s": _target_only_s,
    "standard_sd_tps": _standard_sd_tps,
    "phones_pooled_tps": _phones_pooled_tps,
    "gain": _gain,
    "gap": _gap,
    "reach": _reach,
    "slower_share": _slower_share,
    "drafting_share": _drafting_share,
    "drafting_share_of_tps": _drafting_share_of_tps,
}
"""By the name that the ledger gives."""
