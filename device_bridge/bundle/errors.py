"""What can go wrong while a bundle for phones is made."""

from device_bridge.errors import DeviceError


class BundleError(DeviceError):
    """A bundle cannot be made, or what was made is not whole."""


class NoPackageSourceError(BundleError):
    """No arm64 packages can be had on this computer; a given Python would do instead."""


OWN_PYTHON_HINT = (
    "Give an unpacked arm64 Python with --python FOLDER; it needs glibc, too: "
    "the exported root folder of an arm64 container image with Python has both."
)
