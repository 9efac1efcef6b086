"""What is a device, in a few lines?"""

from dashboard.services.devices import DeviceStatus
from dashboard.views import numbers
from dashboard.views.text import element, label
from dashboard.views.theme import FONT, Theme


def device_lines(device: DeviceStatus) -> list[str]:
    """Name and state, processor, system, as plain text; what is not known is left out."""
    facts = device.facts
    state = "idle" if device.job is None else f"running {device.job.title}"
    cores = facts.get("logical_cores")
    processor = [str(facts.get("cpu") or ""), f"{cores} cores" if isinstance(cores, int) else ""]
    memory = facts.get("ram_bytes")
    system = [
        f"{facts.get('system') or ''} {facts.get('machine') or ''}".strip(),
        f"{numbers.size(memory)} of memory" if isinstance(memory, int) else "",
    ]
    lines = [f"{device.name}: {state}", ", ".join(filter(None, processor)), ", ".join(filter(None, system))]
    return [line for line in lines if line]


def device_html(device: DeviceStatus, theme: Theme) -> str:
    """The same under each other."""
    first, *others = device_lines(device)
    shown = [element("div", label(first, 120), {"color": theme.text})]
    shown += [element("div", label(line, 120)) for line in others]
    return element("div", "".join(shown), {"font-family": FONT, "font-size": "14px", "color": theme.muted})
