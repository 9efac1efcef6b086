"""Which phones can stand here? The four of the paper, by their published properties.

Model, processor, memory, Android version and API level are those of the published profiles (Table 6
of the paper). Clusters, clocks and processor features are the vendors' specified figures for these
chips. Battery and thermal readings are plausible starting values and measure nothing.
"""

from dataclasses import dataclass

from device_bridge.errors import VirtualPhoneError

_FEATURES_82 = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"
_FEATURES_90 = _FEATURES_82 + " sha3 sm3 sm4 sha512 asimdfhm uscat ilrcpc flagm ssbs sb flagm2 frint i8mm bf16 bti"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Cores of one kind, by number."""

    first: int
    last: int
    max_khz: int
    min_khz: int
    part: str
    """``CPU part`` as the kernel prints it."""


@dataclass(frozen=True, slots=True)
class Preset:
    """What a phone says about itself."""

    id: str
    name: str
    model: str
    device: str
    soc: str
    platform: str
    gpu: str
    android: int
    api: int
    memory_kb: int
    """``MemTotal``."""
    clusters: tuple[Cluster, ...]
    features: str
    current_ua: int
    """What ``current_now`` says while discharging; sign and unit differ between phones."""
    charge_full_uah: int


def _gib(value: float) -> int:
    return round(value * 1024 * 1024)


PRESETS: dict[str, Preset] = {
    preset.id: preset
    for preset in (
        Preset(
            "k70", "Redmi K70 Pro", "23117RK66C", "manet", "SM8650", "pineapple", "Adreno750v2", 16, 36, _gib(10.91),
            (
                Cluster(0, 1, 2_265_600, 364_800, "0xd80"),
                Cluster(2, 4, 3_148_800, 499_200, "0xd81"),
                Cluster(5, 6, 2_956_800, 499_200, "0xd81"),
                Cluster(7, 7, 3_302_400, 480_000, "0xd82"),
            ),
            _FEATURES_90, 412_000, 5_000_000,
        ),
        Preset(
            "mi14", "Xiaomi 14", "23127PN0CC", "houji", "SM8650", "pineapple", "Adreno750v2", 16, 36, _gib(14.81),
            (
                Cluster(0, 1, 2_265_600, 364_800, "0xd80"),
                Cluster(2, 4, 3_148_800, 499_200, "0xd81"),
                Cluster(5, 6, 2_956_800, 499_200, "0xd81"),
                Cluster(7, 7, 3_302_400, 480_000, "0xd82"),
            ),
            _FEATURES_90, 397_000, 4_610_000,
        ),
        Preset(
            "11pro", "Xiaomi 11 Pro", "M2102K1AC", "mars", "SM8350", "lahaina", "Adreno660v2", 14, 34, _gib(7.05),
            (
                Cluster(0, 3, 1_804_800, 300_000, "0xd05"),
                Cluster(4, 6, 2_419_200, 710_400, "0xd41"),
                Cluster(7, 7, 2_841_600, 844_800, "0xd44"),
            ),
            _FEATURES_82, -438_000, 5_000_000,
        ),
        Preset(
            "note9", "Redmi Note 9 Pro", "M2007J17C", "gauguin", "SM7225", "lito", "Adreno619v1", 12, 31, _gib(7.21),
            (Cluster(0, 5, 1_804_800, 300_000, "0xd05"), Cluster(6, 7, 2_208_000, 787_200, "0xd0d")),
            _FEATURES_82, 355_000, 4_820_000,
        ),
    )
}  # fmt: skip


def preset(name: str) -> Preset:
    """A preset by its id.

    Raises:
        VirtualPhoneError: there is none of this name.
    """
    if name not in PRESETS:
        raise VirtualPhoneError(f"There is no virtual phone {name!r}.", f"Known: {', '.join(PRESETS)}.")
    return PRESETS[name]
