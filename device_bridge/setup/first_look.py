"""Which checks of a phone follow from what adb lists and from its facts alone, without trying anything on it?"""

from device_bridge.adb.servers import PhoneEntry
from device_bridge.facts import PhoneFacts
from device_bridge.setup.checks import Check, Readiness, Remedy, State
from device_bridge.setup.layout import RUNTIMES

LEAST_FREE_BYTES = 600_000_000
"""The runtime unpacked, its archive, and a small pair of models."""
LEAST_AVAILABLE_BYTES = 500_000_000
LEAST_API = 28
"""Android 9: shell v2, and an arm64 linker that runs what we bring."""
ABI = "arm64-v8a"
_TITLES = {"android": "Android version", "processor": "Processor", "space": "Free space", "memory": "Memory"}


def first_look(entry: PhoneEntry, facts: PhoneFacts | None, runtimes: tuple[str, ...] | None = None) -> Readiness:
    """The checks in the order in which they build on each other; after the first that fails nothing more is known.

    Args:
        facts: what was read; ``None`` where the phone could not be asked.
        runtimes: runtimes that lie on the phone; ``None`` = nobody looked.
    """
    checks = [_connected(entry)]
    if facts is None or not checks[0].ok:
        checks += [Check(key, title, State.NOT_TRIED, "Not looked at yet.") for key, title in _TITLES.items()]
    else:
        checks += [_android(facts), _processor(facts), _space(facts), _memory(facts)]
    checks.append(_runtime(runtimes))
    return Readiness(entry.id, tuple(checks))


def _connected(entry: PhoneEntry) -> Check:
    problem = entry.problem()
    if problem is None:
        return Check("phone", "Connected and allowed", State.OK, f"Connected through {entry.server}.")
    hint = problem.hint
    return Check("phone", "Connected and allowed", State.WRONG, str(problem).removesuffix(hint).strip(), hint)


def _android(facts: PhoneFacts) -> Check:
    api, release = facts.value("api_level"), facts.value("android")
    if api is None:
        return Check("android", "Android version", State.NOT_TRIED, "The phone does not say which Android it runs.")
    found = f"Android {release or '?'}, API level {api}."
    if api < LEAST_API:
        return Check(
            "android", "Android version", State.WRONG, found, f"At least API level {LEAST_API} (Android 9) is needed."
        )
    return Check("android", "Android version", State.OK, found)


def _processor(facts: PhoneFacts) -> Check:
    abis = facts.value("abis")
    if not abis:
        return Check("processor", "Processor", State.NOT_TRIED, "The phone does not say what its processor runs.")
    if ABI in abis:
        return Check("processor", "Processor", State.OK, f"Runs {ABI} programs.")
    return Check(
        "processor", "Processor", State.WRONG, f"Runs only {', '.join(abis)}.", "A 64-bit Arm phone is needed."
    )


def _space(facts: PhoneFacts) -> Check:
    free = facts.value("storage_free_bytes")
    if free is None:
        return Check("space", "Free space", State.NOT_TRIED, "The phone does not say how much space is free.")
    found = f"{free / 1e9:.1f} GB free in /data/local/tmp."
    if free >= LEAST_FREE_BYTES:
        return Check("space", "Free space", State.OK, found)
    fix = f"At least {LEAST_FREE_BYTES / 1e9:.1f} GB are needed: delete something, or remove what this tool left there."
    return Check("space", "Free space", State.WRONG, found, fix, Remedy.CLEAN)


def _memory(facts: PhoneFacts) -> Check:
    available = facts.value("memory_available_bytes")
    if available is None:
        return Check("memory", "Memory", State.NOT_TRIED, "The phone does not say how much memory is available.")
    found = f"{available / 1e9:.1f} GB available."
    if available >= LEAST_AVAILABLE_BYTES:
        return Check("memory", "Memory", State.OK, found)
    return Check("memory", "Memory", State.WRONG, found, "Close other apps on the phone.")


def _runtime(runtimes: tuple[str, ...] | None) -> Check:
    title = "Set up"
    if runtimes is None:
        return Check("runtime", title, State.NOT_TRIED, "Not looked at yet.")
    if runtimes:
        return Check("runtime", title, State.OK, f"A runtime lies in {RUNTIMES}.")
    return Check("runtime", title, State.WRONG, "Nothing of ours lies on the phone yet.", "Set it up.", Remedy.SET_UP)
