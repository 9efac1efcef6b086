"""What can be wrong when the native runner is built?"""

from as2d_core.errors import As2dError


class NativeBuildError(As2dError):
    """The native runner cannot be built; says what is missing or what the compiler said."""

    several_lines = True
