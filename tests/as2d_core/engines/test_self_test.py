"""Which widths are exact is found by running them; here against processors that are made up."""

from itertools import pairwise

import numpy as np
import pytest

from as2d_core.engines.self_test import OFFSETS, find_exact_widths

EOS = 2


class Processor:
    """A model whose rows depend on which kernel computes them.

    ``kernel_of`` maps a width to the name of its kernel. A row is a function of the tokens before
    it, of its own kernel, and of the kernels that filled the cache.
    """

    eos = EOS

    def __init__(self, kernel_of, ends_early=False):
        self._kernel_of = kernel_of
        self._ends_early = ends_early
        self._cache = []

    def warm_up(self, _):
        self.clear()

    def clear(self):
        self._cache = []

    def read(self, _):
        self._cache = []

    @property
    def first(self):
        return 7, 0.5

    @property
    def generated(self):
        return len(self._cache)

    def keep(self, generated):
        assert generated <= len(self._cache)
        del self._cache[generated:]

    def logits(self, tokens):
        kernel = self._kernel_of(len(tokens))
        rows = []
        for token in tokens:
            self._cache.append((token, kernel))
            seed = abs(hash(tuple(self._cache)))
            row = np.random.default_rng(seed % 2**32).normal(size=6).astype(np.float32)
            if self._ends_early:
                row[EOS] = 100
            rows.append(row)
        return np.array(rows)


def test_widths_of_one_kernel_are_all_exact():
    report = find_exact_widths(Processor(lambda _: 0), 8)
    assert (report.step, report.exact) == (1, (1, 2, 3, 4, 5, 6, 7, 8))


def test_a_kernel_for_single_rows_makes_the_step_two_rows_wide():
    report = find_exact_widths(Processor(lambda width: width == 1), 8)
    assert (report.step, report.exact) == (2, (2, 3, 4, 5, 6, 7, 8))


def test_widths_of_another_kernel_are_left_out():
    report = find_exact_widths(Processor(lambda width: width in {1, 6, 7}), 9)
    assert (report.step, report.exact) == (2, (2, 3, 4, 5, 8, 9))


def test_widths_of_another_kernel_leave_nothing_behind_in_the_cache():
    # The widest one is tried last; were its rows kept, every later comparison would fail.
    report = find_exact_widths(Processor(lambda width: width == 8), 8)
    assert report.exact == (1, 2, 3, 4, 5, 6, 7)


def test_a_step_that_is_not_exact_as_a_width_is_not_chosen():
    # Two rows padded from one run on another kernel than two rows of a chain.
    class Peculiar(Processor):
        def logits(self, tokens):
            self._kernel_of = lambda width: 9 if width == 1 or (width == 2 and tokens[1] != EOS) else 0
            return super().logits(tokens)

    assert find_exact_widths(Peculiar(None), 8).step == 3


def test_plain_decoding_that_never_repeats_itself_leaves_no_width():
    class Restless(Processor):
        def logits(self, tokens):
            rows = super().logits(tokens)
            return np.random.default_rng().normal(size=rows.shape).astype(np.float32)

    assert find_exact_widths(Restless(lambda _: 0), 4).exact == (1,)


def test_a_smaller_step_wins_where_two_are_as_good():
    report = find_exact_widths(Processor(lambda width: width % 2), 8)
    assert (report.step, report.exact) == (1, (1, 3, 5, 7))


def test_where_no_two_widths_agree_only_plain_decoding_is_exact():
    report = find_exact_widths(Processor(lambda width: width), 8)
    assert (report.step, report.exact) == (1, (1,))


def test_rows_of_the_same_kernel_differ_when_the_cache_came_from_another():
    # Width 3 alone would match the step; it is the row after it that shows what it left in the cache.
    report = find_exact_widths(Processor(lambda width: 0 if width in {1, 3} else width), 4)
    assert 3 in report.exact
    assert 2 not in report.exact


def test_the_step_is_among_the_exact_widths_and_the_first_of_them():
    for kernel_of in (lambda w: w > 1, lambda w: w // 4, lambda w: w % 3):
        report = find_exact_widths(Processor(kernel_of), 12)
        assert report.exact[0] == report.step


def test_a_text_that_ends_early_does_not_cut_the_test_short():
    whole = find_exact_widths(Processor(lambda width: width == 1), 8)
    assert find_exact_widths(Processor(lambda width: width == 1, ends_early=True), 8).exact == whole.exact


def test_greedy_tokens_that_differ_from_plain_decoding_are_counted():
    report = find_exact_widths(Processor(lambda width: width == 1), 4)
    assert report.argmax_differences[1] == 0
    assert min(report.argmax_differences[width] for width in (2, 3, 4)) > 0


def test_progress_rises_to_the_share_that_was_needed():
    seen = []
    find_exact_widths(Processor(lambda width: width), 4, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_between_two_signs_of_progress_lie_a_few_calls_of_the_model_only():
    class Counting(Processor):
        calls = 0

        def logits(self, tokens):
            self.calls += 1
            return super().logits(tokens)

    model, seen = Counting(lambda width: width), []
    find_exact_widths(model, 4, lambda _: seen.append(model.calls))
    # The longest stretch puts back the steps between two of the offsets that are tried, and tries one width there.
    assert max(after - before for before, after in pairwise(seen)) <= 2 + max(b - a for a, b in pairwise((0, *OFFSETS)))


def test_a_test_that_is_stopped_from_its_progress_ends_there():
    def stop(_):
        raise KeyError

    with pytest.raises(KeyError):
        find_exact_widths(Processor(lambda width: width), 4, stop)


def test_each_width_is_told_before_its_first_forward():
    told = []
    find_exact_widths(Processor(lambda _: 0), 4, trying=told.append)
    assert told == [1, 2, 3, 4, 0]
