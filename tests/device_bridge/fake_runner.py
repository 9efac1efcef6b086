"""A tiny program that speaks the runner protocol; the request's instruction says how it behaves."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from as2d_core.protocol import Writer, request_from_json
from as2d_core.records import STOPS_BATCH, Mark, Round, RunHeader, Span, Unknown
from as2d_core.runner.device import device_facts

EOS = 2
cancelled: set[str] = set()
requests: list = []
arrived = threading.Condition()


def read() -> None:
    for line in sys.stdin:
        body = json.loads(line)
        with arrived:
            if "cancel" in body:
                cancelled.add(body["cancel"])
            else:
                requests.append(request_from_json(body))
            arrived.notify()
    with arrived:
        requests.append(None)
        arrived.notify()


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def decode(writer: Writer, rounds: int, pause_s: float, run_id: str, over=lambda: False) -> None:
    writer.add(Mark("request", 0))
    writer.add(Mark("decode_start", 10, 5))
    for i in range(rounds):
        if run_id in cancelled:
            writer.end("cancelled", 1 + i)
            return
        last = i == rounds - 1 or over()
        start = 10 + 100 * i
        writer.add(Span("target", "step", start, start + 90, i))
        token = EOS if last else 7
        writer.add(
            Round(i, start, start + 100, 1, 1, 0, 0, (token,), (), "", 0, 0, 0, False, "target-only", call_ns=90)
        )
        time.sleep(pause_s)
        if last:
            rounds = i + 1
            break
    end = 10 + 100 * rounds
    writer.add(Mark("eos", end))
    writer.add(Mark("drained", end))
    writer.end("eos", 1 + rounds, text="x")


def serve(request) -> None:
    what, _, number = request.instruction.partition(" ")
    writer = Writer(write)
    if what == "stray":
        write("a library says hello\n")
    if what == "deaf":
        time.sleep(600)
    header = RunHeader(1, request.run_id, request, device_facts(), {"as2d": "0"}, "monotonic")
    writer.add(header)
    if what == "garbage":
        write("\x00\xff not a line of ours\n")
    if what == "half":
        write('{"kind":"round","index":0,"sta')
        print("about to fall over", file=sys.stderr, flush=True)
        os._exit(3)
    if what == "die":
        writer.add(Mark("decode_start", 10, 5))
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        writer.add(Unknown("child", {"pid": child.pid}))
        time.sleep(600)
    if what == "unhearing":  # follows a signal only
        signal.signal(signal.SIGTERM, lambda *_: (writer.end("cancelled", 0), os._exit(0)))
        writer.add(Unknown("hears", {}))
        time.sleep(600)
    if what == "wide":
        writer.add(Unknown("wide", {"text": "x" * int(number)}))
    if what == "endless":
        while True:
            write("x" * 100_000)
    if what == "chatty":  # far more than a pipe holds
        for i in range(20_000):
            print(f"diagnostic line number {i} of very many", file=sys.stderr)
    if what == "until":  # rounds without end, until a file is there
        decode(writer, 10**9, 0.005, request.run_id, Path(number).exists)
        return
    if what == "flood":
        for i in range(int(number)):
            writer.add(Unknown("flood", {"text": "x" * 1000, "number": i}))
    if what == "trash":  # far more than anybody can use, none of it ours
        for i in range(int(number)):
            write(f"{i} " + "trash " * 160 + "\n")
    if what == "open":
        writer.add(Unknown("open", {"content": Path(request.audio.path).read_text(encoding="utf-8")}))
    if what == "fail":
        writer.end("failed", 0, error="The model is unwell.")
        return
    if what == "core":
        writer.end("failed", 0, error="Core 7 went off-line.", extra={STOPS_BATCH: True})
        return
    decode(writer, int(number or 3) if what in ("ok", "slow") else 3, 0.02 if what == "slow" else 0.0, request.run_id)


threading.Thread(target=read, daemon=True).start()
if "--sulk" in sys.argv:
    print("ImportError: no module named everything", file=sys.stderr, flush=True)
    os._exit(1)
while True:
    with arrived:
        while not requests:
            arrived.wait(1)
        item = requests.pop(0)
    if item is None:
        os._exit(0)
    serve(item)
