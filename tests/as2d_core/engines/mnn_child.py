"""A model in a process of its own: MNN prints to stdout, and may crash when an interpreter ends."""

import multiprocessing
import os
from pathlib import Path

from patience import PATIENCE_S


class ChildModel:
    """Calls methods and reads attributes of an ``MnnModel`` over a pipe."""

    def __init__(self, folder: Path, **settings) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far, folder, settings), daemon=True)
        self._process.start()
        far.close()
        self.answer()

    def __call__(self, name: str, *arguments):
        """Call a method, or read an attribute; what it raised is raised here."""
        self._pipe.send((name, arguments))
        return self.answer()

    def answer(self):
        assert self._pipe.poll(PATIENCE_S), "the model does not answer"
        value, error = self._pipe.recv()
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        self._pipe.close()
        self._process.join(PATIENCE_S)
        self._process.kill()
        self._process.join(PATIENCE_S)


def _serve(pipe, folder: Path, settings) -> None:
    from as2d_core.engines.mnn import MnnModel, Settings
    from as2d_core.errors import As2dError
    from as2d_core.models.folder import describe_model

    os.dup2(2, 1)
    try:
        model = MnnModel(describe_model(folder), Settings(**settings))
    except As2dError as error:
        pipe.send((None, error))
        os._exit(0)
    pipe.send((None, None))
    while True:
        try:
            name, arguments = pipe.recv()
        except EOFError:
            os._exit(0)
        value = error = None
        try:
            member = getattr(model, name)
            value = member(*arguments) if callable(member) else member
        except As2dError as problem:
            error = problem
        pipe.send((value, error))
