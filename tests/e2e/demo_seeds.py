#!/usr/bin/python3
"""Every fault of deploy/demo.sh, over several seeds: a table of what was right.

usage: demo_seeds.py BIN [--seeds=10] [--jobs=2] [--fault=A,B]      (BIN: the folder of the programs)

The jobs run in real time beside each other. One that was not right runs once more, alone; what was
right at the second try is counted. Exit status 0 only if everything was right in the end.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

TIMEOUT = 300  # seconds, for what takes about eleven


def known_faults(testbed):
    """The faults that the testbed itself lists."""
    text = subprocess.run([testbed, "--help"], capture_output=True, text=True, check=True).stdout
    return re.search(r"--fault=TEXT\s+--fault=(\S+)", text).group(1).split("|")


def run(testbed, fault, seed):
    """None if the verdict was right, otherwise what the testbed printed."""
    command = [testbed, f"--fault={fault}", f"--seed={seed}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"{' '.join(command)}: did not end within {TIMEOUT} s"
    said = done.stdout + done.stderr
    state = re.search(r"(?m)^logs:\s+(\S+)/logs$", said)
    if done.returncode == 0:
        if state:
            shutil.rmtree(state.group(1), ignore_errors=True)
        return None
    return f"{' '.join(command)}: status {done.returncode}\n{said}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fault", default="")
    options = parser.parse_args()
    testbed = os.path.join(os.path.realpath(options.bin), "testbed")
    faults = options.fault.split(",") if options.fault else known_faults(testbed)
    runs = [(fault, seed) for fault in faults for seed in range(1, options.seeds + 1)]

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = dict(zip(runs, pool.map(lambda each: run(testbed, *each), runs)))
    again = [each for each in runs if outcomes[each] is not None]
    wrong = []
    for each in again:
        print(f"not right at the first try:\n{outcomes[each]}")
        outcomes[each] = run(testbed, *each)
        if outcomes[each] is not None:
            wrong.append(each)
            print(f"not right at the second try:\n{outcomes[each]}")

    print("| fault | right | at the second try | wrong at seeds |\n|---|---|---|---|")
    for fault in faults:
        bad = [str(seed) for name, seed in wrong if name == fault]
        second = sum(1 for each in again if each[0] == fault and each not in wrong)
        right = options.seeds - len(bad)
        print(f"| {fault} | {right} of {options.seeds} | {second or ''} | {', '.join(bad)} |")
    print(f"{len(runs) - len(wrong)} of {len(runs)} right, {len(again) - len(wrong)} of them at the "
          "second try")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
