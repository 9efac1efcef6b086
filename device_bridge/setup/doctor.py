"""Where in the chain from the cable to a forward pass is a phone broken? Every link is tried, one after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from as2d_core.errors import As2dError
from as2d_core.models.folder import ModelInfo
from device_bridge.adb.phone import AdbPhone
from device_bridge.errors import CommandFailedError, DeviceError, NotExecutableError
from device_bridge.setup.checks import Check, Remedy
from device_bridge.setup.chosen import NativeRunner, chosen_runner
from device_bridge.setup.deploy import differing_files
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.setup.readiness import SET_UP_FIX, check_readiness, from_error, not_tried, ok, wrong
from device_bridge.setup.trial import (
    describe_runner,
    native_runner,
    probe_on_phone,
    python_runner,
    runner_environment,
    try_native_model,
)
from device_bridge.setup.wanted import Wanted
from device_bridge.storage import storage_problem

START_S = 120.0
_EXECUTE = r"""
mkdir -p "$1" && cd "$1" || exit 1
printf '#!/system/bin/sh\necho runs\n' > .doctor || exit 1
chmod 755 .doctor; ./.doctor; code=$?
rm -f .doctor
exit $code
"""
_IMPORT = "import MNN, numpy; print('MNN', MNN.version(), 'numpy', numpy.__version__)"


@dataclass(frozen=True, slots=True)
class _Link:
    """One thing to try: returns what was found, raises what is wrong."""

    key: str
    title: str
    attempt: Callable[[], str]
    needs: frozenset[str]
    """Keys of what must not have failed before."""


_CONNECTED = frozenset({"server", "phone", "authorisation", "processor"})
_PLACED = _CONNECTED | {"runtime", "core"}
_ANSWERS = _CONNECTED | {"execution", "files"}
_STARTS = _PLACED | {"execution", "files", "loader"}
_RUNS = _STARTS | {"mnn", "runner"}


def doctor(phone: AdbPhone, wanted: Wanted, name: str = "the phone") -> Iterator[Check]:
    """Every check of ``check_readiness``, then everything that has to run; each as soon as it is known.

    After the first that fails, the ones that build on it are not tried. Never raises for what is
    wrong with a phone.
    """
    wrong_keys: set[str] = set()
    for check in check_readiness(phone, wanted, name).checks:
        if not check.ok:
            wrong_keys.add(check.title if check.key == "model" else check.key)
        yield check
    native = _native(phone, wrong_keys)
    for link in _links(phone, wanted) if native is None else _native_links(phone, wanted, native):
        if wrong_keys & link.needs:
            wrong_keys.add(link.key)
            yield not_tried(link.key, link.title)
            continue
        try:
            yield ok(link.key, link.attempt(), link.title)
        except As2dError as error:
            wrong_keys.add(link.key)
            yield _explained(from_error(link.key, error, link.title))


def _links(phone: AdbPhone, wanted: Wanted) -> Iterator[_Link]:
    runtime, core = wanted.runtime_folder or "", wanted.core_folder
    python, environment = f"{runtime}/bin/python", runner_environment(core)

    def run(*words: str) -> str:
        return phone.run([python, *words], env=environment, cwd=PHONE_ROOT, timeout_s=START_S).text.strip()

    def files() -> str:
        if wanted.runtime is None:
            raise DeviceError("No Python for phones has been built on this computer yet.", SET_UP_FIX)
        count = 0
        for package, folder in ((wanted.runtime, runtime), (wanted.core, core)):
            listing = package.listing.read_text(encoding="utf-8")
            differing = differing_files(phone, folder, listing)
            if differing:
                raise DeviceError(
                    f"{len(differing)} files below {folder} are damaged or missing, such as {differing[0]}.",
                    "Remove what is there with as2d phone clean --all, and set the phone up again.",
                )
            count += package.files
        return f"All {count} files are there and whole."

    yield _Link("execution", "Execution", lambda: _executes(phone), _CONNECTED)
    yield _Link("files", "Files", files, _PLACED)
    yield _Link(
        "loader",
        "Loader and Python",
        lambda: f"{run('--version')} starts with its own loader.",
        _PLACED | {"execution"},
    )
    yield _Link("mnn", "MNN", lambda: f"{_line(run('-c', _IMPORT))} can be imported.", _STARTS)
    yield _Link("runner", "Runner", lambda: _describes(phone, runtime, core), _STARTS)
    for info, folder in zip(wanted.models, wanted.model_folders, strict=True):
        yield _Link(
            "probe", f"{info.name} there", _probe(phone, runtime, core, folder, info), _RUNS | {f"Model {info.name}"}
        )


def _native(phone: AdbPhone, wrong_keys: set[str]) -> NativeRunner | None:
    """The native runner that the phone uses, if it can be asked."""
    if wrong_keys & _CONNECTED:
        return None
    try:
        return chosen_runner(phone)
    except DeviceError:
        return None


def _native_links(phone: AdbPhone, wanted: Wanted, native: NativeRunner) -> Iterator[_Link]:
    def whole() -> str:
        said = phone.run(["sha256sum", native.program], timeout_s=START_S).text.split()
        if said[:1] != [native.sha256]:
            raise DeviceError(f"The file {native.program} is damaged.", "Send it again: as2d phone setup --runner FILE")
        return "Its file is whole."

    def answers() -> str:
        said = describe_runner(phone, native_runner(native.program))
        held = f"backends {', '.join(said.backends)}" if said.backends else "no models"
        return f"It answers: as2d {said.versions.get('as2d')}, MNN {said.versions.get('mnn', 'n/a')}, {held}."

    yield _Link("execution", "Execution", lambda: _executes(phone), _CONNECTED)
    yield _Link("files", "Files", whole, _CONNECTED)
    yield _Link("runner", "Runner", answers, _ANSWERS)
    for info, folder in zip(wanted.models, wanted.model_folders, strict=True) if native.backends else ():
        needs = _ANSWERS | {"runner", f"Model {info.name}"}
        yield _Link("probe", f"{info.name} there", _native_probe(phone, native, folder, info), needs)


def _native_probe(phone: AdbPhone, native: NativeRunner, folder: str, info: ModelInfo) -> Callable[[], str]:
    def attempt() -> str:
        rows = try_native_model(phone, native_runner(native.program), folder, info.name)
        return f"It loads, and its forwards of 1 to {rows} rows run on cpu."

    return attempt


def _line(said: str) -> str:
    """The line that is ours: MNN prints there, too."""
    return next((line for line in said.splitlines() if line.startswith("MNN ")), "MNN")


def _executes(phone: AdbPhone) -> str:
    try:
        phone.script(_EXECUTE, PHONE_ROOT, what="a script in our folder")
    except CommandFailedError as error:
        if error.code == 126 or "Permission denied" in error.said:
            raise NotExecutableError(
                f"The phone does not let anything be executed in {PHONE_ROOT}.",
                "That place is mounted noexec, or a policy of the phone forbids it; use another phone.",
            ) from error
        problem = storage_problem(phone)
        if problem is None:
            raise
        raise DeviceError(f"Nothing can be written in {PHONE_ROOT}: {problem.clause}.", problem.hint) from error
    return f"Programs in {PHONE_ROOT} may be executed."


def _describes(phone: AdbPhone, runtime: str, core: str) -> str:
    said = describe_runner(phone, python_runner(runtime, core))
    return f"The runner answers: as2d {said.versions.get('as2d')}, backends {', '.join(said.backends)}."


def _probe(phone: AdbPhone, runtime: str, core: str, folder: str, info: ModelInfo) -> Callable[[], str]:
    def attempt() -> str:
        probe = probe_on_phone(phone, runtime, core, folder, info.name)
        if probe.sha256 != info.sha256:
            raise DeviceError(f"{info.name} on the phone is not what was sent.", SET_UP_FIX)
        return (
            f"It loads in {probe.load_ms:.0f} ms, hears in {probe.prefill_ms:.0f} ms, and its first forward of four "
            f"rows takes {probe.forward_ms:.0f} ms on {probe.backend}."
        )

    return attempt


def _explained(check: Check) -> Check:
    """What fails after setting up is mostly put right by setting up again."""
    if check.fix:
        return check
    fixed = wrong(check.key, check.found, SET_UP_FIX, Remedy.SET_UP, check.title)
    return replace(fixed, state=check.state)
