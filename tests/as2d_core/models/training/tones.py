"""A bank without espeak-ng: every utterance is a tone as long as its text."""

import numpy as np

from as2d_core.models.training.bank import FAMILIAR_VOICES, BankPlan, make_bank

PLAN = BankPlan("tones", "training", 1, 160, FAMILIAR_VOICES[:1], 0.0)


def tone(utterance):
    count = 1600 + 320 * len(utterance.sentence.english)
    wave = np.sin(np.arange(count) * (0.05 + utterance.pitch / 500))
    return (wave * 9000).astype(np.int16)


def make_tone_bank(folder, plan=PLAN):
    make_bank(plan, folder, threads=1, voice=tone)
