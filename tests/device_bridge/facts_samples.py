"""What phones of several vendors print, shortened to the lines that are read. Written by hand from known formats."""

from device_bridge.facts import COMMANDS

K70_PROPERTIES = """[ro.product.manufacturer]: [Xiaomi]
[ro.product.model]: [23117RK66C]
[ro.product.marketname]: [Redmi K70 Pro]
[ro.soc.manufacturer]: [QTI]
[ro.soc.model]: [SM8650]
[ro.build.version.release]: [16]
[ro.build.version.sdk]: [36]
[ro.build.version.security_patch]: [2026-06-01]
[ro.build.version.incremental]: [OS3.0.304.0.WNMCNXM]
[ro.product.cpu.abilist]: [arm64-v8a]
[ro.many.lines]: [one
two]
[ro.hardware]: [qcom]
"""
K70_FREQUENCIES = "".join(
    f"{core}|{related}|{khz}\n"
    for core, related, khz in (
        (0, "0 1", 2265600),
        (1, "0 1", 2265600),
        (2, "2 3 4", 3148800),
        (3, "2 3 4", 3148800),
        (4, "2 3 4", 3148800),
        (5, "5 6", 2956800),
        (6, "5 6", 2956800),
        (7, "7", 3302400),
    )
)


def cpuinfo(parts, implementer="0x41", hardware=None):
    """``/proc/cpuinfo`` of an arm64 kernel."""
    blocks = [
        f"processor\t: {core}\nBogoMIPS\t: 38.40\nFeatures\t: fp asimd aes atomics fphp asimdhp asimddp i8mm bf16\n"
        f"CPU implementer\t: {implementer}\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: {part}\n"
        for core, part in enumerate(parts)
    ]
    return "\n".join(blocks) + (f"\nHardware\t: {hardware}\n" if hardware else "")


BATTERY = (
    "Current Battery Service state:\n  USB powered: true\n  status: 2\n  level: 80\n  scale: 100\n  temperature: 305\n"
)
K70 = {
    "getprop": K70_PROPERTIES,
    "cpuinfo": cpuinfo(["0xd80", "0xd80", "0xd81", "0xd81", "0xd81", "0xd81", "0xd81", "0xd82"]),
    "frequencies": K70_FREQUENCIES,
    "possible": "0-7\n",
    "online": "0-7\n",
    "meminfo": "MemTotal:       11443212 kB\nMemFree:  100 kB\nMemAvailable:    6123412 kB\n",
    "df": "Filesystem     1K-blocks     Used Available Use% Mounted on\n"
    "/dev/block/dm-51 231000000 60000000 171000000  26% /data\n",
    "battery": BATTERY,
    "thermal": "Thermal Status: 0\n\tTemperature{mValue=31.0, mType=3, mName=skin, mStatus=0}\n",
    "zones": "cpu-0-0|41500\n",
    "gles": "GLES: Qualcomm, Adreno (TM) 750, OpenGL ES 3.2 V@0762.36.1 (GIT@a1b2, Ic9, 17) (Date:03/11/25)\n",
    "kgsl": "Adreno750v2\n",
    "opencl": "/vendor/lib64/libOpenCL_adreno.so|OpenCL 1.2 OpenCL 2.0 OpenCL 3.0 \n/vendor/lib64/libOpenCL.so|\n",
    "kernel": "6.1.118-android14-11\n",
    "screen": "  mWakefulness=Awake\n  Display Power: state=ON\n",
}
EXYNOS = {
    "getprop": """[ro.product.manufacturer]: [samsung]
[ro.product.model]: [SM-S901B]
[ro.hardware.chipname]: [s5e9925]
[ro.build.version.release]: [14]
[ro.build.version.sdk]: [34]
[ro.product.cpu.abilist]: [arm64-v8a,armeabi-v7a]
""",
    "cpuinfo": cpuinfo(["0xd46"] * 4 + ["0xd47"] * 3 + ["0xd48"], hardware="Samsung Exynos 2200 s5e9925"),
    "frequencies": "".join(f"{n}||{k}\n" for n, k in enumerate([1824000] * 4 + [2515200] * 3 + [2803200])),
    "gles": "GLES: Samsung Electronics, Xclipse 920, OpenGL ES 3.2 build 2.0.1@5562\n",
}
MEDIATEK = {
    "getprop": "[ro.product.manufacturer]: [vivo]\n[ro.product.model]: [V2227A]\n[ro.mediatek.platform]: [MT6983]\n",
    "gles": "GLES: ARM, Mali-G710, OpenGL ES 3.2 v1.r38p1-01eac0.abc123\n",
    "df": "Filesystem\n/dev/block/mapper/userdata-with-a-long-name\n  116000000 90000000 26000000  78% /data\n",
    "zones": "mtktscpu|45\nskin|33100\nmodem|-274000\n",
}


def printed(found):
    """What the batch prints for sections: a line of noise first, as some vendors' shells do."""
    return "warning: linker noise\n" + "".join(f"@@as2d {name}\n{found.get(name, '')}" for name in COMMANDS)
