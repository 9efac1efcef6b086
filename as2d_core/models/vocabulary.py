"""What do token ids say? A model's own tokenizer is asked in a child process: MNN prints, and crashes as it likes.

``python -m as2d_core.models.vocabulary FOLDER`` reads a JSON list of token ids on stdin and prints a
JSON object with the bytes of each in hex.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from as2d_core.errors import As2dError, ModelError
from as2d_core.models.folder import describe_model
from as2d_core.runner.exit_reason import exit_reason

DEADLINE_S = 120.0


def token_pieces(folder: Path, tokens: Iterable[int], deadline_s: float = DEADLINE_S) -> dict[int, bytes]:
    """Bytes of each token, as the runner writes them into a record.

    Raises:
        ModelError: what is wrong with the model, or how the child ended.
    """
    info = describe_model(folder)
    wanted = sorted({token for token in tokens if token >= 0})
    command = [sys.executable, "-m", "as2d_core.models.vocabulary", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(
            command,
            input=json.dumps(wanted).encode(),
            capture_output=True,
            timeout=deadline_s,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise ModelError(f"{info.name} did not say its tokens within {deadline_s:g} s.") from None
    except OSError as error:
        raise ModelError(f"{info.name} cannot be asked: no child process can be started ({error}).") from error
    try:
        answer = json.loads(done.stdout)
        if "error" in answer:
            raise ModelError(str(answer["error"]))
        return {int(token): bytes.fromhex(piece) for token, piece in answer.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{info.name} does not say its tokens: {exit_reason(done.returncode)}.") from error


def main(arguments: list[str]) -> int:
    """Say the tokens on stdin with the tokenizer of the model in the folder named by the only argument."""
    from as2d_core.engines.mnn import MnnModel, Settings, claim_stdout

    out = claim_stdout()
    answer: dict[str, str]
    try:
        model = MnnModel(describe_model(Path(arguments[0])), Settings())
        answer = {str(token): model.piece(token).hex() for token in json.load(sys.stdin)}
    except As2dError as error:
        answer = {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - MNN raises what it likes
        answer = {"error": f"{Path(arguments[0]).name} does not say its tokens: {type(error).__name__}: {error}"}
    print(json.dumps(answer), file=out, flush=True)
    return 1 if "error" in answer else 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # a live logits Var can crash an ordinary exit
