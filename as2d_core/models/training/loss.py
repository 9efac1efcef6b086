"""How wrong is a model about a batch? Next tokens of all answers, and the transcript heard by the tower alone."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the name everybody reads

from as2d_core.models.training.batches import NOT_ASKED, Batch
from as2d_core.models.training.network import SpeechModel

CONNECTIONIST_WEIGHT = 0.3


class Trainee(nn.Module):
    """A model with what only its training needs: scale and offsets of the tower's own guess at the tokens."""

    def __init__(self, model: SpeechModel) -> None:
        super().__init__()
        self.speech = model
        self.heard_scale = nn.Parameter(torch.ones(1))
        self.heard_offset = nn.Parameter(torch.zeros(model.shape.vocabulary))

    def forward(self, batch: Batch, precision: torch.dtype) -> "Answers":
        """Logits of every answer token and of the tower's own guess."""
        model = self.speech
        table = model.model.embed_tokens.weight
        with torch.autocast("cpu", precision, enabled=precision != torch.float32):
            audio = model.audio_tower(batch.mel, batch.present)
        audio = audio.float()
        heard = F.rms_norm(audio, (model.shape.hidden,)) @ table.T * self.heard_scale + self.heard_offset
        x = model.model.embed_tokens(batch.ids)
        x = x.masked_scatter(batch.is_audio[..., None], audio[batch.present])
        with torch.autocast("cpu", precision, enabled=precision != torch.float32):
            x = model.model(x, batch.positions, batch.visible())
        asked = batch.labels != NOT_ASKED
        return Answers(x[asked].float() @ table.T, batch.labels[asked], heard)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a model says to a batch."""

    logits: Tensor
    """[answer tokens, vocabulary]."""
    labels: Tensor
    """[answer tokens]."""
    heard: Tensor
    """[batch, positions, vocabulary] logits of the tower alone."""

    def accuracy(self) -> float:
        """Share of answer tokens that are right when all before them are given."""
        return float((self.logits.argmax(-1) == self.labels).float().mean())


@dataclass(frozen=True, slots=True)
class Loss:
    """Mean losses in nats."""

    total: Tensor
    answers: float
    heard: float
    taught: float | None
    """Divergence from the teacher, if there is one."""


def loss_of(
    answers: Answers, batch: Batch, blank: int, teacher: Answers | None = None, teacher_weight: float = 0.0
) -> Loss:
    """Loss of ``answers``; ``teacher`` is what another model says to the same batch."""
    cross_entropy = F.cross_entropy(answers.logits, answers.labels)
    heard = F.ctc_loss(
        answers.heard.log_softmax(-1).transpose(0, 1),
        batch.transcript,
        batch.present.sum(1),
        batch.transcript_lengths,
        blank=blank,
        zero_infinity=True,
    )
    total, taught = cross_entropy + CONNECTIONIST_WEIGHT * heard, None
    if teacher is not None:
        wanted = teacher.logits.log_softmax(-1)
        divergence = F.kl_div(answers.logits.log_softmax(-1), wanted, log_target=True, reduction="batchmean")
        total = total + teacher_weight * (divergence - cross_entropy)
        taught = divergence.item()
    return Loss(total, cross_entropy.item(), heard.item(), taught)
