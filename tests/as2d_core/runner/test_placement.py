"""Which cores the two models get: asked for, chosen from the topology, bound, read back."""

import os
import subprocess
import sys

import pytest
from live_runner import ROOT

from as2d_core.request import Placement
from as2d_core.runner import placement
from as2d_core.runner.placement import allowed_cores, choose, pool_of_target


@pytest.fixture
def machine(monkeypatch):
    """Pretends a machine: core -> (hyper-thread siblings, highest kHz)."""

    def build(cores):
        files = {}
        for core, (siblings, khz) in cores.items():
            files[f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list"] = siblings
            files[f"/sys/devices/system/cpu/cpu{core}/cpufreq/cpuinfo_max_freq"] = khz
        monkeypatch.setattr(placement, "_read", lambda path: files.get(path, ""))
        monkeypatch.setattr(placement, "allowed_cores", lambda: tuple(cores))

    return build


def cores_of(chosen):
    return chosen.target_cores, chosen.drafter_cores


def test_target_and_drafter_get_two_physical_cores(machine):
    machine({0: ("0-1", "3000"), 1: ("0-1", "3000"), 2: ("2-3", "3000"), 3: ("2-3", "3000")})
    assert cores_of(choose(Placement())) == ((0,), (2,))


def test_the_fastest_core_is_the_targets(machine):
    machine({0: ("0", "1800"), 1: ("1", "2400"), 2: ("2", "3200")})
    assert cores_of(choose(Placement())) == ((2,), (1,))


def test_a_single_core_is_shared(machine):
    machine({5: ("", "")})
    assert cores_of(choose(Placement())) == ((5,), (5,))


def test_two_threads_of_one_core_are_not_split_between_the_models(machine):
    machine({0: ("0-1", ""), 1: ("0-1", "")})
    assert cores_of(choose(Placement())) == ((0,), (0,))


def test_every_thread_of_the_target_gets_a_core_and_the_drafter_what_is_left(machine):
    machine({core: (str(core), "") for core in range(4)})
    assert cores_of(choose(Placement(target_threads=3, drafter_threads=2))) == ((0, 1, 2), (3,))


def test_cores_that_were_asked_for_are_left_as_they_are(machine):
    machine({0: ("0", ""), 1: ("1", "")})
    asked = Placement(target_cores=(7,), drafter_cores=(8, 9))
    assert choose(asked) == asked


def test_a_drafter_keeps_off_the_core_that_was_asked_for_the_target(machine):
    machine({0: ("0-1", ""), 1: ("0-1", ""), 2: ("2", "")})
    assert cores_of(choose(Placement(target_cores=(1,)))) == ((1,), (2,))


def test_threads_and_backend_are_kept_when_cores_are_chosen(machine):
    machine({0: ("0", ""), 1: ("1", "")})
    chosen = choose(Placement(target_threads=1, drafter_threads=2, backend="other"))
    assert (chosen.target_threads, chosen.drafter_threads, chosen.backend) == (1, 2, "other")


def test_a_pool_of_threads_is_what_several_of_them_on_the_processor_share():
    assert pool_of_target(Placement(target_threads=4, target_cores=(2, 3))) == (4, (2, 3))
    assert pool_of_target(Placement(target_threads=1, drafter_threads=4)) is None
    assert pool_of_target(Placement(target_threads=4, backend="opencl")) is None


def test_where_the_system_names_no_cores_none_are_chosen(machine):
    machine({})
    assert choose(Placement()) == Placement()


def pinned(cores, otherwise):
    """What ``pin`` returns in a process of its own."""
    code = f"from as2d_core.runner.placement import pin; print(pin({cores!r}, {otherwise!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=True, text=True
    )
    return done.stdout.strip()


needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system binds no processes")


@needs_affinity
def test_a_bound_process_reads_its_core_back():
    last = allowed_cores()[-1]
    assert pinned((last,), ()) == f"({last},)"


@needs_affinity
@pytest.mark.parametrize("cores", [(4000,), (-1,), (2**80,)])
def test_a_process_that_cannot_be_bound_goes_where_it_may(cores):
    first = allowed_cores()[0]
    assert pinned(cores, (first,)) == f"({first},)"


@needs_affinity
def test_without_another_place_it_stays_where_it_was():
    assert pinned((4000,), ()) == str(allowed_cores())
