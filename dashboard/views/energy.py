"""How much energy did a request take from the battery? One sentence, and what the gauge says against it (D.6)."""

from dataclasses import dataclass

from as2d_core.energy import calibrated, check_charge, energy_between
from as2d_core.records import RunRecord
from dashboard.views import numbers


@dataclass(frozen=True, slots=True)
class EnergyInfo:
    """Energy of one run; all texts are plain."""

    joules: float | None
    mean_w: float | None
    sentence: str
    """The figure, or ``n/a`` with the reason."""
    check: str
    """Integrated current against the charge counter over all that was captured, or why there is no comparison."""
    scale: str
    """How the vendor's current was read."""

    @property
    def text(self) -> str:
        """Everything, to be printed together: the figure is not to be had without its check."""
        return " ".join(filter(None, (self.sentence, self.check, self.scale)))


def energy_info(record: RunRecord) -> EnergyInfo | None:
    """Energy from the request's arrival until both models have finished; ``None`` on a device without a battery."""
    seen = record.telemetry
    if not any(r.battery_current_ma is not None or r.charging is not None or r.extra.get("plugged") for r in seen):
        return None
    start, end = record.marks.get("request"), record.marks.get("drained")
    if start is None or end is None:
        return EnergyInfo(None, None, f"Energy {numbers.NA}: the request did not come to its end.", "", "")
    readings, scale = calibrated(seen)
    energy = energy_between(readings, start.time_ns, end.time_ns)
    if energy.joules is None:
        return EnergyInfo(None, None, f"Energy {energy.reason}.", "", "")
    whose = "whole phone, display included"
    if record.header.device.get("virtual"):
        whose = "a virtual phone's made-up gauge"
    found = check_charge(readings)
    return EnergyInfo(
        energy.joules,
        energy.mean_w,
        f"Energy {numbers.significant(energy.joules)} J at {numbers.power(energy.mean_w)} on average, from the request "
        f"until both models had finished ({whose}).",
        "The charge counter moved too little for a comparison." if found is None else found.sentence(),
        "" if scale is None else f"Current read as {scale.unit}, sign from the {scale.how}.",
    )
