"""Long random use of one resident runner: whatever came before, every run is exact, or failed with a sentence."""

import os
import random
import signal
import time

import pytest

from as2d_core.models.demo_catalog import demo_windows
from as2d_core.validation import check_record

pytestmark = [pytest.mark.soak, pytest.mark.models, pytest.mark.timeout(1200)]

REQUESTS = 150


def model_processes(runner):
    return [p for p in runner.processes() if p.pid != runner.pid and "spawn_main" in " ".join(p.cmdline())]


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_requests_is_answered_exactly(seed, start_runner, runner, ask, reference, exact_widths):
    rng = random.Random(seed)
    used = start_runner()
    windows = rng.sample([item.window_id for item in demo_windows() if item.duration_s < 10], 6)
    for number in range(REQUESTS):
        window = rng.choice(windows)
        method, fields = rng.choice(
            [
                ("target-only", {}),
                ("sd", {"width": rng.randint(2, exact_widths[-1])}),
                ("specasr", {"draft_cap": rng.randint(1, exact_widths[-1] - 1)}),
                ("as2d", {"budget": rng.randint(1, exact_widths[-1] - 1), "batch_tokens": rng.randint(1, 12)}),
                (
                    "as2d",
                    {"budget": 3, "drafter_pace_ms": rng.choice([2.0, 10.0]), "search_window": rng.randint(0, 20)},
                ),
                ("as2d", {"budget": 63}),
            ]
        )
        cap = rng.choice([320, 320, rng.randint(2, 40)])
        request = ask(method, window, max_tokens=cap, threshold=rng.choice([None, 0.0, 0.4, 0.9]), **fields)
        used.send(request)
        what = rng.random()
        if what < 0.1:
            used.send({"cancel": request.run_id})
        elif what < 0.2:
            used.lines("run")
            time.sleep(rng.random() * 0.2)
            for process in rng.sample(model_processes(used), min(1, len(model_processes(used)))):
                process.kill()
        record = used.record()
        wanted = reference(window)[:cap]
        context = (seed, number, request, record.end)
        assert (record.problems, check_record(record)) == ([], []), context
        if record.status in {"eos", "capped"}:
            assert tuple(record.tokens) == wanted, context
        else:
            assert tuple(record.tokens) == wanted[: len(record.tokens)], context
            assert record.status == "cancelled" or record.end.error, context
            assert what < 0.2 or fields.get("budget") == 63, context


@pytest.mark.parametrize("seed", range(40))
def test_a_drafter_may_die_at_any_moment(seed, runner, ask, reference):
    rng = random.Random(seed)
    runner.send(ask("as2d", "fast_07", budget=rng.randint(1, 8), drafter_pace_ms=rng.choice([1.0, 20.0, 60.0])))
    drafter = runner.drafter_pid()
    runner.lines("engine")
    time.sleep(rng.random() * 0.4)  # at any moment
    os.kill(drafter, signal.SIGKILL)
    record = runner.record()
    assert record.problems == []
    assert tuple(record.tokens) in {reference("fast_07"), ()}
    assert record.status == "eos" or "SIGKILL" in record.end.error
