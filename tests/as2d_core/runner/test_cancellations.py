"""A cancellation reaches the run that it names, whenever it comes, and no other."""

from as2d_core.runner.cancellations import Cancellations


def test_a_run_that_was_read_can_be_cancelled_before_it_starts():
    runs = Cancellations()
    runs.expect("a")
    runs.cancel("a")
    assert runs.wanted("a")


def test_only_the_named_run_is_cancelled():
    runs = Cancellations()
    runs.expect("a")
    runs.expect("b")
    runs.cancel("b")
    assert (runs.wanted("a"), runs.wanted("b")) == (False, True)


def test_a_run_that_is_not_known_is_not_remembered():
    runs = Cancellations()
    runs.cancel("a")
    runs.expect("a")
    assert not runs.wanted("a")


def test_a_cancellation_ends_with_its_run():
    runs = Cancellations()
    runs.expect("a")
    runs.cancel("a")
    runs.forget("a")
    runs.expect("a")
    assert not runs.wanted("a")


def test_a_second_run_of_the_same_name_can_still_be_cancelled():
    runs = Cancellations()
    runs.expect("a")
    runs.expect("a")
    runs.forget("a")
    runs.cancel("a")
    assert runs.wanted("a")


def test_cancelling_all_holds_for_runs_that_come_later():
    runs = Cancellations()
    runs.cancel_all()
    runs.expect("a")
    assert runs.wanted("a")
