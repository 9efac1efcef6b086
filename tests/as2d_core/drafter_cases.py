"""Drafters that the tests of serial methods share: made-up real ones, and error channels."""

import numpy as np
from hypothesis import strategies as st

from as2d_core.collection.branches import collect_branches
from as2d_core.replay.branches import ErrorChannel, channel_states, recorded_states
from as2d_core.replay.specasr import AspCosts

EOS = 2
CAP = 9
"""Largest draft cap that ``recorded`` cases cover."""
THRESHOLD = 0.4


class SpokenDrafter:
    """A drafter whose next token is a fixed function of what it has read, near to what was spoken.

    Off the path it runs late or early and finds back, as a drafter does that hears the audio.
    """

    def __init__(self, seed, spoken, error_per_mille):
        self.seed, self.spoken, self.error_per_mille = seed, spoken, error_per_mille

    def predict(self, read):
        chance = hash((self.seed, read)) % 1_000_003
        if chance % 1000 < self.error_per_mille:
            token = 3 + chance % 7
        else:
            late = 0
            if read and len(read) <= len(self.spoken) and read[-1] != self.spoken[len(read) - 1]:
                late = chance % 3 - 1
            at = len(read) + late
            token = self.spoken[at] if 0 <= at < len(self.spoken) else EOS
        return token, (chance // 7 % 100) / 100 if chance % 5 == 0 else 0.9

    def ask(self, read, count):
        """``collection.branches.Ask``."""
        words, confidences = [], []
        read = tuple(read)
        while len(words) < count:
            token, confidence = self.predict(read)
            words.append(token)
            confidences.append(confidence)
            read = (*read, token)
            if token == EOS:
                break
        return words, confidences


@st.composite
def spoken_cases(draw, max_tokens=40):
    """``(target, drafter, output_cap)``: an output, and a drafter that says nearly the same."""
    length = draw(st.integers(0, max_tokens))
    chance = draw(st.randoms(use_true_random=False))
    vocabulary = draw(st.sampled_from([3, 12, 300]))
    body = [chance.randint(3, 3 + vocabulary) for _ in range(length)]
    capped = bool(body) and draw(st.booleans())
    target = body if capped else [*body, EOS]
    seed = draw(st.integers(0, 2**30))
    drafter = SpokenDrafter(seed, target, draw(st.sampled_from([0, 60, 250, 600])))
    return target, drafter, len(target) if capped else len(target) + draw(st.integers(0, 8))


def prefix_answers(target, drafter):
    answers = [drafter.predict(tuple(target[:i])) for i in range(len(target))]
    return [token for token, _ in answers], [confidence for _, confidence in answers]


def collected(target, drafter, output_cap, cap=CAP):
    """The branches of a drafter, collected as on a device."""
    tokens, confidences = prefix_answers(target, drafter)
    return collect_branches(target, tokens, confidences, EOS, output_cap, drafter.ask, cap, THRESHOLD)


@st.composite
def recorded(draw):
    """``(target, states, output_cap)`` of a real drafter, recorded for caps up to ``CAP``."""
    target, drafter, output_cap = draw(spoken_cases())
    branches = collected(target, drafter, output_cap)
    return target, recorded_states(target, *prefix_answers(target, drafter), branches, THRESHOLD), output_cap


@st.composite
def channelled(draw, max_tokens=40):
    """``(target, states, output_cap)`` of a made-up drafter."""
    length = draw(st.integers(0, max_tokens))
    chance = draw(st.randoms(use_true_random=False))
    target = [*(chance.randint(3, 12) for _ in range(length)), EOS]
    rate = draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    count = len(target)
    states = channel_states(
        target,
        [chance.random() >= rate for _ in range(count)],
        [chance.choice([0.2, 0.9, 0.9, 0.9]) for _ in range(count)],
        ErrorChannel(
            tuple(chance.randint(0, 5) for _ in range(count)), tuple(chance.randint(0, 5) for _ in range(count))
        ),
        EOS,
        THRESHOLD,
    )
    return target, states, count + draw(st.integers(0, 8))


any_drafter = recorded() | channelled()


def asp_cost_table(form="paired", widths=CAP + 1, **changes):
    """Costs whose sums are exact in floating point."""
    verify = np.full(widths + 1, np.nan)
    verify[1:] = [32.0 + 4.0 * k for k in range(1, widths + 1)]
    values = {
        "form": form,
        "draft_ms": 8.0,
        "paired_ms": 12.0 if form == "paired" else np.nan,
        "confidence_row_ms": 0.5,
        "refresh_base_ms": 2.0,
        "refresh_token_ms": 3.0,
        "verify_ms": verify,
        "loop_ms": 1.0,
    }
    return AspCosts(**{**values, **changes})
