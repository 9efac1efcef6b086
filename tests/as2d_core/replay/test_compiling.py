import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import as2d_core
from as2d_core.replay import compiling, loops

TREE = Path(as2d_core.__file__).parents[1]
REPLAY = """
from as2d_core.replay import compiling
from as2d_core.replay.kernel import replay_standard_sd
{before}
print(replay_standard_sd([True] * 9, 4, 1.0, [0.0, 10.0, 10.0, 10.0, 10.0], 0.5).time_ms)
"""


def replay(cache, before=""):
    """The time of one replay in a fresh process whose machine code is kept in ``cache``."""
    done = subprocess.run(
        [sys.executable, "-c", REPLAY.format(before=before)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(TREE)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return float(done.stdout)


def kept(cache):
    return sorted(cache.rglob("*.nbc"))


def test_machine_code_is_kept_used_again_and_never_stale(tmp_path):
    assert replay(tmp_path) == 28.0
    first = kept(tmp_path)
    assert len(first) == 1
    stamp = first[0].stat().st_mtime_ns
    assert replay(tmp_path) == 28.0
    assert kept(tmp_path) == first
    assert first[0].stat().st_mtime_ns == stamp
    # A changed source, alignment for one, is another key.
    assert replay(tmp_path, "compiling._fingerprint = lambda own: 'other sources'") == 28.0
    assert len(kept(tmp_path)) == 2


def test_place_where_nothing_can_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    assert replay(tmp_path / "file" / "cache") == 28.0


def test_cache_that_fails_later_is_left_behind(monkeypatch):
    compiling.compiled.cache_clear()
    plain = Dispatcher.enable_caching

    def failing(self):
        plain(self)

        def save(*_):
            raise OSError("No space left on device")

        self._cache.save_overload = save
        self._cache.load_overload = lambda *_: None

    monkeypatch.setattr(Dispatcher, "enable_caching", failing)
    run = compiling.compiled(loops.drain_end)
    assert run(10.0, 100.0, 8.0) == 16.0
    assert run(10.0, 100.0, 8.0) == 16.0
    compiling.compiled.cache_clear()


@pytest.mark.parametrize("module", ["alignment", "schedule", "loops", "width_rule"])
def test_every_source_that_is_compiled_is_part_of_the_key(module, tmp_path, monkeypatch):
    before = compiling._fingerprint(())
    changed = tmp_path / "changed.py"
    changed.write_text("other")
    monkeypatch.setattr(getattr(compiling, module), "__file__", str(changed))
    assert compiling._fingerprint(()) != before
