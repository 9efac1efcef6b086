"""What can be wrong with a notebook, a cell of it, or a file made from one?"""

from as2d_core.errors import As2dError


class NotebookError(As2dError):
    """A notebook is malformed, or does not hold what was asked for."""


class CellError(As2dError):
    """A cell cannot be run; the message says which setting of it is wrong."""
