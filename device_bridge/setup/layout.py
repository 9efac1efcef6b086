"""Where do our files lie on a phone? All below one folder, versions side by side, so that one command removes them.

Names are made of digits of content hashes and plain letters, never of what a user typed.
"""

PHONE_ROOT = "/data/local/tmp/as2d"
RUNTIMES = f"{PHONE_ROOT}/runtimes"
"""CPython with MNN and numpy, by the hash of its files."""
CORES = f"{PHONE_ROOT}/cores"
"""The package as2d_core, by the hash of its files."""
MODELS = f"{PHONE_ROOT}/models"
"""Model folders, by the hash of their files."""
RUNNERS = f"{PHONE_ROOT}/runners"
"""Native runner programs, by hash."""
AUDIO = f"{PHONE_ROOT}/audio"
"""Audio files, by the hash of their content."""
SELF_TESTS = f"{PHONE_ROOT}/self-tests"
"""Which widths runners have found exact, a folder for each runtime and native runner."""
INBOX = f"{PHONE_ROOT}/inbox"
"""Archives on their way."""
HASH_DIGITS = 16


def runtime_folder(runtime_id: str) -> str:
    """Folder of one runtime on the phone."""
    return f"{RUNTIMES}/{runtime_id}"


def core_folder(core_id: str) -> str:
    """Folder on the phone that holds the package ``as2d_core`` of one version."""
    return f"{CORES}/{core_id}"


def model_folder(sha256: str) -> str:
    """Folder of one model on the phone."""
    return f"{MODELS}/{sha256[:HASH_DIGITS]}"


def self_tests_folder(home: str) -> str:
    """Where the runner in a runtime's folder, or in a native runner's, keeps which widths are exact."""
    return f"{SELF_TESTS}/{home.rpartition('/')[2]}"


def runner_program(sha256: str) -> str:
    """Path of one native runner program on the phone."""
    return f"{RUNNERS}/{sha256[:HASH_DIGITS]}/runner"
