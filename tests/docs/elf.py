#!/usr/bin/python3
"""The programs that are installed have what the compiler has against exploits.

usage: elf.py PROGRAM...

Position independent, relocations read-only before the program starts, an unexecutable
stack, stack protector, checked libc calls; on x86 also control-flow enforcement in what the
project itself compiles. Reads the files with binutils' readelf.
"""

import re
import subprocess
import sys


def readelf(option, path):
    return subprocess.run(["readelf", "--wide", option, path], capture_output=True, text=True, check=True).stdout


def lacking(path):
    """What the program lacks, in words."""
    header = readelf("--file-header", path)
    segments = readelf("--segments", path)
    dynamic = readelf("--dynamic", path)
    symbols = readelf("--dyn-syms", path)
    stack = re.search(r"GNU_STACK\s.*", segments)
    checks = {
        "a position-independent executable": re.search(r"Type:\s+DYN", header) and "INTERP" in segments,
        "read-only relocations": "GNU_RELRO" in segments,
        "immediate binding": re.search(r"FLAGS_1.*\bNOW\b|\bBIND_NOW\b", dynamic),
        "an unexecutable stack": stack and "E" not in stack[0].split("GNU_STACK")[1],
        "a stack protector": "__stack_chk_fail" in symbols,
        # By a table of the program's own, which the linker must prefer to that of gRPC 1.51.
        "gRPC's limits before a peer acknowledges them":
            "libgrpc.so.29" not in dynamic or re.search(r"OBJECT .* \d+ grpc_chttp2_settings_parameters", symbols),
        "checked libc calls": re.search(r"\b__\w+_chk\b", symbols.replace("__stack_chk_fail", "")),
    }
    if "X86-64" in header:
        main = re.search(r"\s([0-9a-f]{16})\s+\d+\s+FUNC\s.*\smain$", readelf("--symbols", path), re.MULTILINE)
        checks["control-flow enforcement"] = main and starts_with_endbr64(path, main[1])
    return [what for what, there in checks.items() if not there]


def starts_with_endbr64(path, address):
    code = subprocess.run(
        ["objdump", "--disassemble", f"--start-address=0x{address}", f"--stop-address=0x{int(address, 16) + 4:x}", path],
        capture_output=True, text=True, check=True).stdout
    return "endbr64" in code


def main():
    failed = False
    for path in sys.argv[1:]:
        problems = lacking(path)
        failed |= bool(problems)
        print(f"{path}: " + ("lacks " + ", ".join(problems) if problems else "has all of it"))
    return 1 if failed or not sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
