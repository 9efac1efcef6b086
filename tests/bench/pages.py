"""Do the pages stay quick when many runs are stored? Opened with 10,000 of them and ten million events.

What is counted is processor time of a page's script once it has been seen, and bytes sent to the browser; both are
held against what they may cost, and printed.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.many_runs import many_runs

RUNS, EVENTS_EACH = 10_000, 1_000
SCRIPT_BUDGET_MS, BYTES_BUDGET = 150.0, 5_000_000
REPETITIONS = 5
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
        say(f"Filling a store with {runs:,} runs of at least {events_each:,} events")
        many_runs(Path(folder), runs, events_each)
        os.environ["AS2D_STORE"] = folder
        begin = time.process_time()
        store = open_workspace().store
        opened_s = time.process_time() - begin
        stored, spans = (store.read(f"SELECT count(*) FROM {table}")[0][0] for table in ("runs", "spans"))  # noqa: S608
        newest = [row[0] for row in store.read("SELECT run_id FROM runs WHERE method = 'as2d' LIMIT 2")]
        states = {
            "timeline": {"run": newest[0], "round": 3},
            "compare": {"runs": "\n".join(newest)},
            "reports": {"template": "run", "runs": newest[0]},
        }
        rows = []
        runner.exec_func_with_error_handling, LocalScriptRunner.run = timed, counted
        try:
            for page in sorted(path.stem for path in (ROOT / "dashboard" / "pages").glob("*.py")):
                say(f"Looking at {page}")
                app = PageApp(page, states.get(page, {}))
                app.test.run()
                spent.clear()
                sent.clear()
                for _ in range(REPETITIONS):
                    app.test.run()
                rows.append({"page": page, "script_ms": min(spent), "bytes": max(sent)})
        finally:
            runner.exec_func_with_error_handling, LocalScriptRunner.run = execute, run
            close_workspace()
    return {"runs": stored, "spans": spans, "opened_s": opened_s, "pages": rows}


def render_pages(result: dict[str, Any]) -> str:
    """The figures as text for a terminal."""
    lines = [
        f"{result['runs']:,} stored runs with {result['spans']:,} spans, opened in {result['opened_s']:.2f} s of "
        "processor time; every page seen before.",
        "",
        f"{'page':14}{'script ms':>12}{'of 150 ms':>12}{'kB sent':>12}{'of 5 MB':>12}",
    ]
    lines += [
        f"{row['page']:14}{row['script_ms']:12.0f}{row['script_ms'] / SCRIPT_BUDGET_MS:12.0%}"
        f"{row['bytes'] / 1e3:12.0f}{row['bytes'] / BYTES_BUDGET:12.1%}"
        for row in result["pages"]
    ]
    over = [
        row["page"] for row in result["pages"] if row["script_ms"] > SCRIPT_BUDGET_MS or row["bytes"] > BYTES_BUDGET
    ]
    lines += ["", f"Over a budget: {', '.join(over) or 'none'}."]
    return "\n".join(lines)
