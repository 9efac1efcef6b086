"""Train one model, going on from where the last run was stopped, however it was stopped.

A model's folder holds ``state.pt`` (everything: weights, their running average, optimizer, step), written every few
minutes, and ``log.jsonl``. The data of a step follow from seed and step number, so a killed run repeats at most the
steps since the last state.
"""

import contextlib
import json
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from as2d_core.errors import TrainingError
from as2d_core.models.training.bank import Bank
from as2d_core.models.training.batches import Batch, TrainingWindows
from as2d_core.models.training.loss import Loss, Trainee, loss_of
from as2d_core.models.training.network import SpeechModel
from as2d_core.models.training.plans import ModelPlan
from as2d_core.models.training.progress import Progress
from as2d_core.models.training.tokens import Tokens
from as2d_core.models.training.weights import inherit, load_whole, save_whole, start_from

STATE_FILE = "state.pt"
LOG_FILE = "log.jsonl"
STOP_FILE = "stop"
"""An empty file of this name in a model's folder makes its training save and end."""
WARM_UP = 0.1
"""The largest share of the steps over which the learning rate rises."""
COOL_DOWN = 0.2
"""The last share of the steps, over which the learning rate goes to nothing."""
AVERAGE_STEPS = 1000
"""Horizon of the running average of the weights; the average is what is exported."""
SMOOTHING = 0.98
LARGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class Machine:
    """How a run uses this computer; nothing here changes what is learned, but for rounding."""

    threads: int = 2
    bfloat16: bool = True
    save_every_s: float = 300.0
    workers: int = 1
    """Processes that compose windows; 0 = in this one."""


@dataclass(slots=True)
class _Run:
    """What changes from step to step, and is saved."""

    trainee: Trainee
    optimizer: torch.optim.Optimizer
    average: dict[str, Tensor]
    step: int = 0

    def state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "weights": self.trainee.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.trainee.load_state_dict(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average = state["average"]
        self.step = int(state["step"])


def train(plan: ModelPlan, work: Path, machine: Machine, *, start: Path | None = None) -> bool:
    """Train ``plan`` in ``work`` until its last step; true when it is reached, false when stopped before.

    Args:
        work: holds ``banks/training``, ``tokenizer`` and a folder for each model.
        start: safetensors file with first weights, used when there is no state yet.

    Raises:
        TrainingError: something is missing that this step needs.
    """
    torch.set_num_threads(machine.threads)
    torch.manual_seed(plan.seed)
    folder = work / plan.name
    folder.mkdir(parents=True, exist_ok=True)
    tokens = Tokens(work / "tokenizer")
    if tokens.vocabulary != plan.shape.vocabulary:
        raise TrainingError(
            f"The tokenizer in {work / 'tokenizer'} needs {tokens.vocabulary} rows of embeddings, "
            f"the plan of {plan.name} has {plan.shape.vocabulary}."
        )
    run = _begin(plan, work, start)
    teacher = _finished(plan.teacher, work) if plan.teacher else None
    windows = TrainingWindows(Bank(work / "banks" / "training"), tokens, plan.recipe, plan.seed)
    keeper = _Keeper(run, plan, folder, machine)
    with _stop_asked(folder / STOP_FILE) as stop_asked:
        for batch in _batches(windows, range(run.step, plan.steps), machine):
            keeper.note(_step(run, plan, batch, teacher, tokens.blank, machine))
            if stop_asked():
                keeper.save()
                break
    return run.step >= plan.steps


def average_weights(work: Path, name: str) -> dict[str, Tensor]:
    """The averaged weights of a trained model, without what only its training needs.

    Raises:
        TrainingError: it has no state yet.
    """
    file = work / name / STATE_FILE
    if not file.is_file():
        raise TrainingError(f"There is no trained {name} in {work}; train it first.")
    average = load_whole(file)["average"]
    return {key.removeprefix("speech."): value for key, value in average.items() if key.startswith("speech.")}


def learning_rate(plan: ModelPlan, step: int) -> float:
    """The rate of a step: up (over a tenth of the steps at most), level, down."""
    up = min(1.0, (step + 1) / max(1.0, min(plan.warm_up, WARM_UP * plan.steps)))
    down = min(1.0, (plan.steps - step) / max(1.0, COOL_DOWN * plan.steps))
    return plan.learning_rate * min(up, down)


def _begin(plan: ModelPlan, work: Path, start: Path | None) -> _Run:
    model = SpeechModel(plan.shape)
    state = work / plan.name / STATE_FILE
    if not state.exists():
        if start is not None:
            start_from(model, start)
        elif plan.parent is not None:
            inherit(model, average_weights(work, plan.parent), plan.parent_layers)
    trainee = Trainee(model)
    optimizer = torch.optim.AdamW(_groups(trainee), lr=plan.learning_rate, betas=(0.9, 0.98), fused=True)
    run = _Run(trainee, optimizer, {name: value.clone() for name, value in trainee.state_dict().items()})
    if state.exists():
        run.restore(load_whole(state))
    return run


def _groups(trainee: Trainee) -> list[dict[str, Any]]:
    """Matrices decay; norms, offsets and biases do not."""
    matrices = [weights for weights in trainee.parameters() if weights.dim() >= 2]
    others = [weights for weights in trainee.parameters() if weights.dim() < 2]
    return [{"params": matrices, "weight_decay": 0.02}, {"params": others, "weight_decay": 0.0}]


def _finished(name: str, work: Path) -> Trainee:
    """A trained model that only answers."""
    from as2d_core.models.training.plans import MODELS

    model = SpeechModel(MODELS[name].shape)
    model.load_state_dict(average_weights(work, name))
    return Trainee(model).eval().requires_grad_(requires_grad=False)


def _step(
    run: _Run, plan: ModelPlan, batch: Batch, teacher: Trainee | None, blank: int, machine: Machine
) -> dict[str, float]:
    precision = torch.bfloat16 if machine.bfloat16 else torch.float32
    for group in run.optimizer.param_groups:
        group["lr"] = learning_rate(plan, run.step)
    taught = None
    if teacher is not None:
        with torch.no_grad():
            taught = teacher(batch, precision)
    answers = run.trainee(batch, precision)
    loss = loss_of(answers, batch, blank, taught, plan.teacher_weight)
    run.optimizer.zero_grad()
    loss.total.backward()
    torch.nn.utils.clip_grad_norm_(run.trainee.parameters(), LARGEST_GRADIENT)
    run.optimizer.step()
    run.step += 1
    _follow(run)
    return _numbers(loss, answers.accuracy())


def _follow(run: _Run) -> None:
    """Move the average towards the weights; early on it reaches back over a tenth of the steps so far."""
    share = max(1 / AVERAGE_STEPS, min(1.0, 10 / run.step))
    with torch.no_grad():
        for name, value in run.trainee.state_dict().items():
            run.average[name].lerp_(value, share)


def _numbers(loss: Loss, accuracy: float) -> dict[str, float]:
    numbers = {"answers": loss.answers, "heard": loss.heard, "accuracy": accuracy}
    return numbers if loss.taught is None else {**numbers, "taught": loss.taught}


class _Keeper:
    """Says how far the training is, logs it, and saves it when that is due."""

    def __init__(self, run: _Run, plan: ModelPlan, folder: Path, machine: Machine) -> None:
        self._run, self._plan, self._folder, self._machine = run, plan, folder, machine
        self._progress = Progress()
        self._smooth: dict[str, float] = {}
        self._saved_s = time.monotonic()

    def note(self, numbers: dict[str, float]) -> None:
        """Take the numbers of the step that was just made."""
        smooth, step = self._smooth, self._run.step
        for name, value in numbers.items():
            smooth[name] = SMOOTHING * smooth.get(name, value) + (1 - SMOOTHING) * value
        text = ", ".join(f"{name} {value:.4f}" for name, value in smooth.items())
        if self._progress.show(step, self._plan.steps, f"{self._plan.name}: {text}; step"):
            line = {"step": step, "unix_s": round(time.time()), **{name: round(v, 5) for name, v in smooth.items()}}
            with (self._folder / LOG_FILE).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        if time.monotonic() - self._saved_s > self._machine.save_every_s or step >= self._plan.steps:
            self.save()

    def save(self) -> None:
        """Write the state."""
        save_whole(self._run.state(), self._folder / STATE_FILE)
        self._saved_s = time.monotonic()


def _batches(windows: TrainingWindows, steps: range, machine: Machine) -> Iterable[Batch]:
    batches: Iterable[Batch] = DataLoader(
        windows,
        batch_size=None,
        sampler=steps,
        num_workers=machine.workers,
        prefetch_factor=8 if machine.workers else None,
        worker_init_fn=_one_thread,
    )
    return batches


def _one_thread(_: int) -> None:
    torch.set_num_threads(1)


@contextlib.contextmanager
def _stop_asked(file: Path) -> Iterator[Callable[[], bool]]:
    """A function that tells whether the stop file lies there (it is taken away) or the process was asked to end."""
    signals: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))

    def asked() -> bool:
        if file.exists():
            file.unlink()
            return True
        return bool(signals)

    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)
