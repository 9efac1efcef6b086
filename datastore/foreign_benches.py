"""What do MNN's llm_bench and llama-bench say? Rates, with a sentence for everything that makes one hard to believe.

Written from the programs' own output code (llm_bench of MNN 3.x, ``--json``; llama-bench, ``-o json`` and
``-o jsonl``). Both are often redirected together with their log, appended to earlier results, or cut off.
"""

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from datastore.errors import ForeignError
from datastore.run_row import clean

MNN, LLAMA = "llm_bench", "llama-bench"
TESTS = ("prefill", "decode", "both")
MOST_BYTES = 20_000_000
UNSTEADY = 0.1
"""Standard deviation over mean from which a rate is called unsteady."""
_PRECISION = {0: "normal", 1: "high", 2: "low"}
_NO_NUMBER = re.compile(r"(?<=[:,\[])(\s*)(-?(?:inf(?:inity)?|nan)(?:\(\w*\))?)(?=\s*[,}\]])", re.IGNORECASE)
_NOTHING = re.compile(r'("\s*:)(\s*)(?=[,}])')
_BRACE = re.compile(r'\\.|["\[\]{}]')
_OBJECT = re.compile(r'\[?\s*\{\s*"')
_MOST_FAILURES = 2_000
"""Brackets in a log that begin no JSON, after which the rest of it is not searched."""
_START = re.compile(r"[\[{]")


@dataclass(frozen=True, slots=True)
class ForeignResult:
    """One test of one program. ``None`` is "n/a"."""

    tool: str
    model: str | None
    device: str | None
    backend: str | None
    threads: int | None
    test: str
    """``prefill``, ``decode``, or ``both`` (one rate over prompt and output)."""
    prompt_tokens: int | None
    generated_tokens: int | None
    tps: float | None
    """Tokens per second; ``None`` when the file gives no usable one."""
    sd_tps: float | None
    samples: int | None
    """Repetitions behind the mean, where the file says."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Sentences about what is odd."""


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """What a file holds."""

    results: tuple[ForeignResult, ...]
    notes: tuple[str, ...]
    """Sentences about the file as a whole."""


def read_benches(data: bytes, name: str) -> ForeignFile:
    """Read a file of either program.

    Raises:
        ForeignError: it holds no result of theirs, or is too large to be one.
    """
    if len(data) > MOST_BYTES:
        raise ForeignError(f"{name} has {len(data) / 1e6:.0f} MB; a result of a benchmark has at most 20.")
    text = _decoded(data)
    text, absent = _NO_NUMBER.subn(r"\1null", text)
    text, empty = _NOTHING.subn(r"\1\2null", text)
    bodies, noise, cut = _bodies(text)
    results: list[ForeignResult] = []
    runs = 0
    for body in bodies:
        if isinstance(body.get("results"), list):
            results += _mnn(body)
            runs += 1
        elif "n_gen" in body and ("avg_ts" in body or "avg_ns" in body):
            results.append(_llama(body))
    if not results:
        raise ForeignError(
            f"{name} holds no result of llm_bench (--json) or llama-bench (-o json, -o jsonl); "
            "write it again with one of these."
        )
    notes = []
    if noise:
        notes.append(f"Passed over in {name}: {_counted(noise, 'line')} without results (a log, most likely).")
    if runs > 1:
        notes.append(f"{name} holds {runs} runs of llm_bench one after the other; they are kept apart by their order.")
    if lacking := absent + empty:
        notes.append(f"{_counted(lacking, 'number')} in {name} {_are(lacking)} infinite, NaN or missing: n/a here.")
    if cut:
        notes.append(f"{name} ends in the middle of a result, which was left out.")
    results = [_judged(item) for item in results]
    return ForeignFile(tuple(_told_apart(results)), tuple(notes))


def _decoded(data: bytes) -> str:
    """Text of a file; what a shell of Windows redirects is UTF-16, which its first two bytes tell."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _bodies(text: str) -> tuple[list[dict[str, Any]], int, bool]:
    """Every JSON object of a text (also those in arrays), lines of other text, and whether the last one is cut off."""
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    noise, at, cut, failed = 0, 0, False, 0
    while (start := _START.search(text, at)) is not None:
        noise += sum(1 for line in text[at : start.start()].splitlines() if line.strip(" ,\t"))
        try:
            body, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            failed += 1
            if failed > _MOST_FAILURES:
                break
            cut = cut or (_OBJECT.match(text, start.start()) is not None and _unfinished(text, start.start()))
            at = start.start() + 1
            continue
        at = end
        found += [item for item in (body if isinstance(body, list) else [body]) if isinstance(item, dict)]
    noise += sum(1 for line in text[at:].splitlines() if line.strip(" ,\t]}"))
    return found, noise, cut


def _unfinished(text: str, start: int) -> bool:
    """Whether the JSON that begins there would go on behind the end of the text."""
    depth, inside, at = 0, False, start
    for found in _BRACE.finditer(text, start):
        mark, at = found[0], found.end()
        if mark == '"':
            inside = not inside
        elif not inside and len(mark) == 1:
            depth += 1 if mark in "[{" else -1
            if depth == 0:
                return False
    return at > start


def _mnn(body: Mapping[str, Any]) -> Iterator[ForeignResult]:
    settings = {
        name: _PRECISION.get(body[name], body[name]) if name in ("precision", "memory", "power") else body[name]
        for name in ("precision", "memory", "power", "quantAttention", "useMmap", "modelSize")
        if _is_plain(body.get(name))
    }
    base = ForeignResult(
        MNN, _text(body.get("model")), None, _text(body.get("backend")), _whole(body.get("threads")),
        "", None, None, None, None, None, settings,
    )  # fmt: skip
    for item in body["results"]:
        if not isinstance(item, dict):
            continue
        prompt, made = _whole(item.get("prompt_len")), _whole(item.get("generate_len"))
        kind = item.get("type")
        if kind == "prefill_and_decode":
            rates = [("prefill", "prefill_tps", "prefill_std"), ("decode", "decode_tps", "decode_std")]
        else:
            rates = [("decode" if kind == "decode" else "prefill", "tps", "std")]
        for test, rate, spread in rates:
            notes = []
            if test == "decode":
                notes.append(
                    "llm_bench divides the tokens asked for by the time, so that an output that stopped early counts "
                    "as a whole one: the true rate may be lower."
                )
            if rate not in item and kind == "prefill_and_decode" and test == "prefill":
                notes.append("Without --kv-cache llm_bench keeps no rates of the parts of this test.")
            yield replace(
                base, test=test, prompt_tokens=prompt, generated_tokens=made, tps=_rate(item.get(rate)),
                sd_tps=_rate(item.get(spread)), notes=tuple(notes),
            )  # fmt: skip


def _llama(body: Mapping[str, Any]) -> ForeignResult:
    prompt, made = _whole(body.get("n_prompt")) or 0, _whole(body.get("n_gen")) or 0
    samples = body.get("samples_ts")
    names = ("type_k", "type_v", "n_batch", "n_ubatch", "n_gpu_layers", "n_depth", "flash_attn", "build_commit")
    settings = {name: body[name] for name in names if _is_plain(body.get(name))}
    device = " / ".join(filter(None, (_text(body.get("cpu_info")), _text(body.get("gpu_info")))))
    model = _text(body.get("model_type")) or _text(body.get("model_filename"))
    return ForeignResult(
        LLAMA, model, device or None, _text(body.get("backends")), _whole(body.get("n_threads")),
        "both" if prompt and made else "decode" if made else "prefill", prompt or None, made or None,
        _rate(body.get("avg_ts")), _rate(body.get("stddev_ts")),
        len(samples) if isinstance(samples, list) else None, settings,
        ("One rate over prompt and output together; it is neither of prefill nor of decoding.",)
        if prompt and made else (),
    )  # fmt: skip


def _judged(item: ForeignResult) -> ForeignResult:
    notes = list(item.notes)
    if item.tps is None:
        notes.append("The file gives no usable rate (none, infinite or NaN).")
    elif item.tps == 0:
        notes.append("The rate is 0: nothing was done, or too little to be timed.")
    elif item.sd_tps is not None and item.sd_tps > UNSTEADY * item.tps:
        notes.append(f"The repetitions differ by {100 * item.sd_tps / item.tps:.0f} % (one standard deviation).")
    return replace(item, notes=tuple(notes))


def _told_apart(results: list[ForeignResult]) -> Iterator[ForeignResult]:
    """llm_bench writes the settings of the first test of a sweep for all: such rows cannot be told apart."""

    def key(item: ForeignResult) -> tuple[Any, ...]:
        where = (item.tool, item.model, item.device, item.backend, item.threads)
        settings = json.dumps(dict(item.settings), sort_keys=True)
        return (*where, item.test, item.prompt_tokens, item.generated_tokens, settings)

    counts = Counter(map(key, results))
    for item in results:
        many = counts[key(item)]
        if many > 1:
            sentence = (
                f"{many} rows of this file have the same settings: a sweep of which the settings were not written, or "
                "the same test several times. Which is which cannot be told."
            )
            yield replace(item, notes=(*item.notes, sentence))
        else:
            yield item


def _is_plain(value: Any) -> bool:
    """Whether a setting is one that a file can say again: text, or a number that is one."""
    return isinstance(value, str) or (isinstance(value, int | float) and abs(value) < 2**53)


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _rate(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value < 1e9 else None  # neither holds for NaN


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _text(value: Any) -> str | None:
    return clean(value)[:300] if isinstance(value, str) and value.strip() else None
