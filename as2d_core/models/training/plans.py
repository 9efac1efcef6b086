"""Which banks and which models belong to the demo?"""

from dataclasses import dataclass

from as2d_core.models.training.bank import FAMILIAR_VOICES, NEW_VOICES, OTHER_TRAINING_VOICES, BankPlan
from as2d_core.models.training.batches import USUAL, Recipe
from as2d_core.models.training.network import Shape

TRAINING_BANK = BankPlan("training", "training", 1, 48_000, FAMILIAR_VOICES * 5 + OTHER_TRAINING_VOICES, 0.2)


def evaluation_banks(split: str, seed: int, sentences: int = 900) -> tuple[BankPlan, BankPlan, BankPlan]:
    """Banks of ordinary speed, of fast speech and of new voices for one split's windows."""
    return (
        BankPlan("familiar", split, seed, sentences, FAMILIAR_VOICES, 0.0),
        BankPlan("fast", split, seed + 1, sentences // 3, FAMILIAR_VOICES, 1.0),
        BankPlan("new_voice", split, seed + 2, sentences // 3, NEW_VOICES, 0.0),
    )


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """How one model is trained."""

    name: str
    shape: Shape
    seed: int
    steps: int
    learning_rate: float
    """At its height; reached after ``warm_up`` steps, kept, and lowered to nothing over the last fifth."""
    warm_up: int = 500
    recipe: Recipe = USUAL
    parent: str | None = None
    """Model whose tower, embeddings and ``parent_layers`` this one starts from."""
    parent_layers: tuple[int, ...] = ()
    teacher: str | None = None
    teacher_weight: float = 0.5


VOCABULARY = 528
TARGET = ModelPlan("target", Shape(VOCABULARY, 384, 8, 768, 8, 4, 48, 256, 4), 11, 8_000, 3e-4)
PAPER = ModelPlan(
    "paper",
    Shape(VOCABULARY, 384, 3, 768, 8, 4, 48, 256, 4),
    12,
    550,  # stopped early on purpose: acceptance is to vary from window to window
    5e-4,
    parent="target",
    parent_layers=(0, 2, 7),
    teacher="target",
)
LIGHT = ModelPlan("light", Shape(VOCABULARY, 192, 6, 448, 4, 2, 48, 128, 2), 13, 6_000, 1e-3, teacher="target")
MODELS = {plan.name: plan for plan in (TARGET, PAPER, LIGHT)}
