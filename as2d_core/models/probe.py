"""Does a model run here? Tried in a child process, because MNN crashes on what it cannot run.

``python -m as2d_core.models.probe FOLDER`` loads the model, lets it hear half a second of noise,
runs one forward, and prints one JSON object. ``probe_model`` starts that and turns every way it can
go wrong, a crash included, into a sentence.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from as2d_core.errors import As2dError, ModelError
from as2d_core.models.folder import describe_model
from as2d_core.runner.exit_reason import exit_reason

DEADLINE_S = 180.0
NOISE_SECONDS = 0.5
ROWS = 4
"""Positions of the trial forward: verification needs all of their rows."""
INSTRUCTION = "transcribe the speech."


@dataclass(frozen=True, slots=True)
class Probe:
    """What a model did when it was tried."""

    name: str
    sha256: str
    mnn_version: str
    backend: str
    vocabulary: int
    load_ms: float
    prefill_ms: float
    """Audio encoder and language model, half a second of audio."""
    forward_ms: float
    """One forward of ``ROWS`` positions, its first use included."""


def probe_model(folder: Path, deadline_s: float = DEADLINE_S) -> Probe:
    """Try a model in a child process.

    Raises:
        ModelError: what is wrong with it, or how the child ended.
    """
    info = describe_model(folder)  # what can be told without MNN is told at once
    command = [sys.executable, "-m", "as2d_core.models.probe", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(command, capture_output=True, timeout=deadline_s, check=False, env=environment)
    except subprocess.TimeoutExpired:
        raise ModelError(
            f"{info.name} did not finish one forward within {deadline_s:g} s; it is too big for this computer."
        ) from None
    except OSError as error:
        raise ModelError(f"{info.name} cannot be tried: no child process can be started ({error}).") from error
    answer = _last_object(done.stdout)
    if "error" in answer:
        raise ModelError(str(answer["error"]))
    if done.returncode != 0 or not answer:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        words = f" (its last words: {said[-1][:200]})" if said else ""
        raise ModelError(
            f"{info.name} does not run here: {exit_reason(done.returncode)}{words}. "
            "Export it again for MNN 3.6.1, or choose another model."
        )
    return Probe(**answer)


def _last_object(output: bytes) -> dict[str, Any]:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _try(folder: Path) -> Probe:
    import numpy as np

    from as2d_core.audio import SAMPLE_RATE
    from as2d_core.engines.mnn import MnnModel, Settings

    settings = Settings()
    model = MnnModel(describe_model(folder), settings)
    noise = np.random.default_rng(0).normal(0.0, 0.01, int(NOISE_SECONDS * SAMPLE_RATE)).astype(np.float32)
    encoded, prefilled = model.hear(noise)
    model.instruct(model.instruction_ids(INSTRUCTION))
    rows = model.forward([model.first[0]] * ROWS)
    logits = model.logits([rows.greedy[-1]])
    if np.isnan(logits).any() or np.isposinf(logits).any():
        raise ModelError(f"{model.info.name} computes numbers that are none (NaN); export it again.")
    return Probe(
        name=model.info.name,
        sha256=model.info.sha256,
        mnn_version=model.mnn_version,
        backend=settings.backend,
        vocabulary=int(logits.shape[1]),
        load_ms=(model.loaded.end_ns - model.loaded.start_ns) / 1e6,
        prefill_ms=(prefilled.end_ns - encoded.start_ns) / 1e6,
        forward_ms=(rows.end_ns - rows.start_ns) / 1e6,
    )


def main(arguments: list[str]) -> int:
    """Try the model in the folder named by the only argument."""
    from as2d_core.engines.mnn import claim_stdout

    out = claim_stdout()
    if len(arguments) != 1:
        print("usage: python -m as2d_core.models.probe FOLDER", file=sys.stderr)
        return 2
    answer: dict[str, Any]
    try:
        answer = asdict(_try(Path(arguments[0])))
    except As2dError as error:
        answer = {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - MNN raises what it likes
        answer = {"error": f"{Path(arguments[0]).name} does not run here: {type(error).__name__}: {error}"}
    print(json.dumps(answer), file=out, flush=True)
    return 1 if "error" in answer else 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # a live logits Var can crash an ordinary exit
