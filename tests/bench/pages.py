"""Do the pages stay quick when many runs are stored? Opened with 10,000 of them and ten million events.

What is counted is processor time of a page's script once it has been seen, bytes sent to the browser and the largest
number of marks in one of its SVG figures; all are held against what they may cost, and printed. A run of 200,000 spans
is opened by a new process, as its first page; a step of the sliders for assumed costs is a script's run of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datastore.opening import open_store
from tests.bench.long_run import long_run
from tests.bench.many_runs import many_runs

RUNS, EVENTS_EACH, LONG_SPANS = 10_000, 1_000, 200_000
SCRIPT_BUDGET_MS, BYTES_BUDGET, MARKS_BUDGET = 150.0, 5_000_000, 2_000
STEP_BUDGET_MS, OPEN_BUDGET_MS = 300.0, 2_000.0
REPETITIONS = 5
FACTORS = (1.5, 2.0, 0.5, 3.0, 0.8)
DEADLINE_S = 300.0
LONG_ID = "long-run"
ROOT = Path(__file__).parents[2]


def measure_pages(say: Callable[[str], None], runs: int = RUNS, events_each: int = EVENTS_EACH) -> dict[str, Any]:
    """Fill a store, open it and look at every page."""
    import streamlit.runtime.scriptrunner.script_runner as runner
    from streamlit.testing.v1.local_script_runner import LocalScriptRunner

    sys.path.insert(0, str(ROOT / "tests" / "dashboard" / "pages"))
    from page_samples import PageApp

    from dashboard.services.workspace import close_workspace, open_workspace

    spent: list[float] = []
    sent: list[int] = []
    execute, run = runner.exec_func_with_error_handling, LocalScriptRunner.run

    def timed(function: Callable[[], Any], *arguments: Any, **named: Any) -> Any:
        def script() -> Any:
            begin = time.thread_time()
            try:
                return function()
            finally:
                spent.append((time.thread_time() - begin) * 1e3)

        return execute(script, *arguments, **named)

    def counted(self: LocalScriptRunner, *arguments: Any, **named: Any) -> Any:
        tree = run(self, *arguments, **named)
        sent.append(sum(message.ByteSize() for message in self.forward_msg_queue._queue))
        return tree

    with tempfile.TemporaryDirectory() as folder:
        say(f"Opening a run of {LONG_SPANS:,} spans in a new process")
        long = _open_long_run(Path(folder) / "long")
        say(f"Filling a store with {runs:,} runs of at least {events_each:,} events")
        many_runs(Path(folder) / "many", runs, events_each)
        os.environ["AS2D_STORE"] = str(Path(folder) / "many")
        begin = time.process_time()
        store = open_workspace().store
        opened_s = time.process_time() - begin
        stored, spans = (store.read(f"SELECT count(*) FROM {table}")[0][0] for table in ("runs", "spans"))  # noqa: S608
        newest = [row[0] for row in store.read("SELECT run_id FROM runs WHERE method = 'as2d' LIMIT 2")]
        paper = {"corpus": "paper-838", "profile": "k70"}
        states = {
            "timeline": [{"run": newest[0], "round": 3}],
            "compare": [{"runs": "\n".join(newest)}, {"by": "setting"}],
            "reports": [{"template": "run", "runs": newest[0]}],
            "budgets": [{}, paper, {**paper, "split": "all"}],
            "windows": [{}, paper],
        }
        rows = []
        runner.exec_func_with_error_handling, LocalScriptRunner.run = timed, counted
        try:
            for page in sorted(path.stem for path in (ROOT / "dashboard" / "pages").glob("*.py")):
                for state in states.get(page, [{}]):
                    say(f"Looking at {page}")
                    app = PageApp(page, state)
                    app.test.run()
                    spent.clear()
                    sent.clear()
                    for _ in range(REPETITIONS):
                        app.test.run()
                    rows.append(
                        {
                            "page": f"{page}{_named(state)}",
                            "script_ms": min(spent),
                            "bytes": max(sent),
                            "marks": max(map(_svg_marks, app.charts.values()), default=0),
                        }
                    )
            say("Moving the sliders for assumed costs")
            app = PageApp("budgets", {**paper, "split": "all"})
            app.test.run()
            spent.clear()
            for factor in FACTORS:
                app.choose("select_slider", "What if a draft step cost", factor)
            step_ms = sorted(spent)[len(spent) // 2]
        finally:
            runner.exec_func_with_error_handling, LocalScriptRunner.run = execute, run
            close_workspace()
    return {"runs": stored, "spans": spans, "opened_s": opened_s, "pages": rows, "step_ms": step_ms, "long": long}


def _named(state: dict[str, Any]) -> str:
    """What tells a state of a page from its others."""
    return "".join(f", {state[name]}" for name in ("corpus", "split", "by") if name in state)


def _svg_marks(figure: dict[str, Any]) -> int:
    """Bars, and points that are drawn one by one, of a figure; WebGL and heat maps are pictures and cost nothing."""
    return sum(
        _length(trace)
        for trace in figure["data"]
        if trace["type"] == "bar" or (trace["type"] == "scatter" and "markers" in trace.get("mode", ""))
    )


def _length(trace: dict[str, Any]) -> int:
    """How many points a trace has: its labels tell, where its columns went out as binary."""
    for name in ("hovertext", "customdata", "x"):
        if isinstance(trace.get(name), list):
            return len(trace[name])
    column = trace.get("x", {})
    bytes_each = int("".join(filter(str.isdigit, column.get("dtype", "8"))) or 8)
    return len(column.get("bdata", "")) * 3 // 4 // bytes_each


def _open_long_run(folder: Path) -> dict[str, Any]:
    """Processor time of the Timeline page over a long run: as the first page of a process, again, and zoomed in."""
    folder.mkdir()
    with open_store(folder) as store:
        rounds = long_run(store, folder, LONG_ID, LONG_SPANS)
    environment = {**os.environ, "AS2D_STORE": str(folder)}
    command = [sys.executable, "-m", "tests.bench.pages"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=True
    )
    return {"spans": LONG_SPANS, "rounds": rounds, **json.loads(done.stdout.splitlines()[-1])}


def _first_page() -> dict[str, float]:
    """In a process of its own: what a server does before anybody asks, then the page of the long run."""
    import logging

    logging.disable(logging.WARNING)
    from dashboard.services.workspace import close_workspace
    from dashboard.ui_server import get_ready

    get_ready()
    sys.path.insert(0, str(ROOT / "tests" / "dashboard" / "pages"))
    from page_samples import PageApp

    app = PageApp("timeline", {"run": LONG_ID})
    spent = {}
    for name, window in (("first", {}), ("again", {}), ("zoomed", {"from": "1000000", "to": "1010000"})):
        for key, value in window.items():
            app.test.query_params[key] = value
        begin = time.process_time()
        app.run()
        spent[f"{name}_ms"] = (time.process_time() - begin) * 1e3
        assert {"overview", "detail", "account"} <= set(app.charts)
        spent["marks"] = max(spent.get("marks", 0), *map(_svg_marks, app.charts.values()))
    close_workspace()
    return spent


def render_pages(result: dict[str, Any]) -> str:
    """The figures as text for a terminal."""
    lines = [
        f"{result['runs']:,} stored runs with {result['spans']:,} spans, opened in {result['opened_s']:.2f} s of "
        "processor time; every page seen before.",
        "",
        f"{'page':26}{'script ms':>12}{'of 150 ms':>12}{'kB sent':>12}{'of 5 MB':>12}{'SVG marks':>12}",
    ]
    lines += [
        f"{row['page']:26}{row['script_ms']:12.0f}{row['script_ms'] / SCRIPT_BUDGET_MS:12.0%}"
        f"{row['bytes'] / 1e3:12.0f}{row['bytes'] / BYTES_BUDGET:12.1%}{row['marks']:12,}"
        for row in result["pages"]
    ]
    over = [
        row["page"]
        for row in result["pages"]
        if row["script_ms"] > SCRIPT_BUDGET_MS or row["bytes"] > BYTES_BUDGET or row["marks"] > MARKS_BUDGET
    ]
    long, step_ms = result["long"], result["step_ms"]
    over += ["opening a long run"] if long["first_ms"] > OPEN_BUDGET_MS or long["marks"] > MARKS_BUDGET else []
    over += ["a step of assumed costs"] if step_ms > STEP_BUDGET_MS else []
    lines += [
        "",
        f"A run of {long['spans']:,} spans and {long['rounds']:,} rounds, by processor time: "
        f"{long['first_ms']:.0f} ms as the first page of a new process (of {OPEN_BUDGET_MS:,.0f}), "
        f"{long['again_ms']:.0f} ms again, {long['zoomed_ms']:.0f} ms zoomed in; "
        f"at most {long['marks']:,} marks in an SVG figure.",
        f"A step of assumed costs over all windows of paper-838: {step_ms:.0f} ms (of {STEP_BUDGET_MS:.0f}).",
        "",
        f"Over a budget: {', '.join(over) or 'none'}.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(json.dumps(_first_page()))
