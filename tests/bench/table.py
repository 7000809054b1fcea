#!/usr/bin/python3
"""Runs benchmarks and prints what they found as ratios against their floors.

usage: table.py [--smoke] PROGRAM...

A program is one of Google Benchmark's. The name of a case is SUBJECT/VARIANT,
where one variant of each subject is called `floor`: the least that anybody
would have to do for the same. Every other variant becomes a row: its time and
the floor's, as medians over the repetitions, and how many times the floor it
is. A counter that both have becomes a row of its own. The label of a case, if it
has one, says what is to be reached.

--smoke runs each case once, to see that it runs; its figures mean nothing.
Exit status 1: a case failed, or has no floor.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

FLOOR = "floor"
# What Google Benchmark itself says of a case.
NO_COUNTERS = {
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads",
    "iterations", "real_time", "cpu_time", "items_per_second", "bytes_per_second"}
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class BadBenchmark(Exception):
    pass


def run(program, smoke):
    """The cases of one program, as Google Benchmark reports them."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        command = [program, f"--benchmark_out={out}", "--benchmark_out_format=json"]
        environment = dict(os.environ)
        if smoke:
            command += ["--benchmark_min_time=0", "--benchmark_repetitions=1"]
            environment["RAPIDEYE_BENCH_SMOKE"] = "1"
        else:
            # Floor and measured take turns, so that what else the machine does hits both.
            command += ["--benchmark_repetitions=5", "--benchmark_enable_random_interleaving=true"]
        subprocess.run(command, check=True, env=environment, stdout=sys.stderr)
        with open(out, encoding="utf-8") as file:
            return json.load(file)["benchmarks"]


def gather(cases):
    """{subject: {variant: {figure: median}}} and {(subject, variant): label}."""
    samples, labels = {}, {}
    for case in cases:
        if case["run_type"] != "iteration":
            continue
        name = case["run_name"]
        if case.get("error_occurred"):
            raise BadBenchmark(f"{name}: {case['error_message']}")
        parts = name.split("/")
        if len(parts) < 2:
            raise BadBenchmark(f"{name}: a case is called SUBJECT/VARIANT")
        figures = {"time": case["real_time"] * NANOSECONDS[case["time_unit"]]}
        figures.update({key: value for key, value in case.items()
                        if isinstance(value, (int, float)) and key not in NO_COUNTERS})
        variant = samples.setdefault(parts[0], {}).setdefault(parts[1], {})
        for key, value in figures.items():
            variant.setdefault(key, []).append(value)
        labels[parts[0], parts[1]] = case.get("label", "")
    medians = {subject: {variant: {key: statistics.median(values) for key, values in figures.items()}
                         for variant, figures in variants.items()}
               for subject, variants in samples.items()}
    return medians, labels


def written(figure, value):
    if figure != "time":
        return f"{value:.4g}"
    for unit in ("s", "ms", "us"):
        if value >= NANOSECONDS[unit]:
            return f"{value / NANOSECONDS[unit]:.3g} {unit}"
    return f"{value:.3g} ns"


def rows(cases):
    medians, labels = gather(cases)
    found = []
    for subject, variants in medians.items():
        floor = variants.get(FLOOR)
        if floor is None or len(variants) < 2:
            raise BadBenchmark(f"{subject}: needs a case {subject}/{FLOOR} and one to compare with it")
        for variant, figures in variants.items():
            if variant == FLOOR:
                continue
            for figure, value in figures.items():
                if figure not in floor:
                    continue
                ratio = f"{value / floor[figure]:.2f}" if floor[figure] > 0 else "-"
                goal = labels[subject, variant] if figure == "time" else ""
                found.append([f"{subject}: {variant}", figure, written(figure, floor[figure]),
                              written(figure, value), ratio, goal])
    return found


def table(lines):
    header = ["what", "figure", "floor", "measured", "ratio", "goal"]
    return "\n".join("| " + " | ".join(line) + " |"
                     for line in [header, ["---"] * len(header)] + lines)


def main(arguments):
    smoke = "--smoke" in arguments
    programs = [argument for argument in arguments if argument != "--smoke"]
    try:
        print(table([row for program in programs for row in rows(run(program, smoke))]))
    except (BadBenchmark, subprocess.CalledProcessError) as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
