"""Folders that look like an MNN build, an NDK or a program, with nothing in them that could be compiled."""

import struct

MACHINES = {"x86_64": 62, "aarch64": 183, "arm": 40}
LLM, AUDIO, OPENCL = b"_ZN3MNN11Transformer3Llm9createLLM\0", b"_ZN3MNN5AUDIO5fbank\0", b"clGetPlatformIDs\0"
SYSTEMS = {"android": b"_ZNSt6__ndk16vector\0", "linux": b"_ZNSt7__cxx1112basic_string\0", None: b""}


def elf(machine="aarch64", text=b"", notes=b"", interpreter=b""):
    """A 64-bit program with one note and one interpreter at most."""
    parts = [(4, notes), (3, interpreter)]
    parts = [(kind, data) for kind, data in parts if data]
    offset = 64 + 56 * len(parts)
    table, body = b"", b""
    for kind, data in parts:
        table += struct.pack("<IIQQQQQQ", kind, 4, offset + len(body), 0, 0, len(data), len(data), 4)
        body += data
    head = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01" + bytes(9), 2, MACHINES[machine], 1, 0, 64 if parts else 0, 0, 0, 64, 56, len(parts),
        64, 0, 0,
    )  # fmt: skip
    return head + table + body + text


def android_note(api_level=28, ndk=b"r27c"):
    described = struct.pack("<I64s64s", api_level, ndk, b"12479018")
    return struct.pack("<III8s", 8, len(described), 1, b"Android\0") + described


def archive(*members):
    """An archive of objects, with a table of names first as ``ar`` writes it."""
    out = b"!<arch>\n"
    for name, data in (("/", b"names of functions\n"), *((f"{i}.o/", data) for i, data in enumerate(members))):
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{0:<8}{len(data):<10}".encode() + b"`\n" + data + b"\n" * (len(data) % 2)
    return out


def mnn_tree(root, machine="aarch64", system="android", parts=LLM + AUDIO, library="lib/libMNN.a", headers=True):
    """An installed MNN 3.6.1."""
    include = root / "include"
    (include / "MNN").mkdir(parents=True)
    (include / "MNN/MNNDefine.h").write_text(
        "#define MNN_VERSION_MAJOR 3\n#define MNN_VERSION_MINOR 6\n#define MNN_VERSION_PATCH 1\n"
    )
    if headers:
        (include / "llm").mkdir()
        (include / "llm/llm.hpp").write_text("")
    path = root / library
    path.parent.mkdir(parents=True, exist_ok=True)
    compiled = elf(machine, SYSTEMS[system] + parts)
    path.write_bytes(archive(compiled) if path.suffix == ".a" else compiled)
    return root


def ndk_tree(root, version="27.2.12479018", levels=(21, 35), toolchain=True):
    (root / "build/cmake").mkdir(parents=True)
    (root / "source.properties").write_text(f"Pkg.Desc = Android NDK\nPkg.Revision = {version}\n")
    if toolchain:
        (root / "build/cmake/android.toolchain.cmake").write_text("")
    if levels:
        (root / "meta").mkdir()
        (root / "meta/platforms.json").write_text(f'{{"min": {levels[0]}, "max": {levels[1]}, "aliases": {{}}}}')
    return root


def tools(folder, cmake="3.25.1", others=("ninja", "c++", "aarch64-linux-gnu-g++")):
    """Programs that say a version and do nothing."""
    folder.mkdir()
    for name in (*(["cmake"] if cmake else []), *others):
        path = folder / name
        path.write_text(f"#!/bin/sh\necho 'cmake version {cmake}'\n")
        path.chmod(0o755)
    return folder
