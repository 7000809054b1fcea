#!/usr/bin/python3
"""Runs a real JAX job beside rapideye, breaks it, and prints truth beside verdict.

usage: tests/jobs/run.sh [--fault=NAME,...] [--page | --no-page] [--seeds=N] [--jobs=2] [...]
"""

import argparse
import datetime
import json
import os
import signal
import sys
import time

import environment
import networks
import processes
import table
from faults import FAULTS
from launchers import LAUNCHERS

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(
        prog="tests/jobs/run.sh",
        description=f"{__doc__.splitlines()[0]} JAX is installed from PyPI, once (needs pip).",
        epilog="faults: " + ", ".join(FAULTS),
    )
    parser.add_argument("--fault", help="names, by commas; default: all")
    parser.add_argument("--page", action="store_true", help="only with the progress page")
    parser.add_argument("--no-page", action="store_true", help="only without it")
    parser.add_argument(
        "--silent",
        action="store_true",
        help="without the page, and the program writes no lines: only its traffic, input, output "
        "and CPU time tell of its steps, which are longer (0.5 s)",
    )
    parser.add_argument(
        "--sidecar",
        action="store_true",
        help="the agent beside the program (not exec), which it finds by its --log",
    )
    parser.add_argument(
        "--launcher",
        choices=LAUNCHERS,
        help="what `rapideye-agent exec` starts is a script that starts the program, that passes its "
        "output through tee, or that starts it until it succeeds; or a Python program",
    )
    parser.add_argument(
        "--program",
        choices=["train", "plain"],
        help="of the folder job, in place of the fault's own: for faults that are done from outside "
        "and those of job/mishaps.py",
    )
    parser.add_argument("--seeds", type=int, default=1, help="how often each is run")
    parser.add_argument(
        "--first-seed", type=int, default=1, help="seed of the first run of each; see --seeds"
    )
    parser.add_argument("--ranks", type=int, default=4, help="of the job, at least 2")
    parser.add_argument(
        "--odd-rank", type=int, help="where faults are, 0 is the leader; default: by the seed"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many run side by side")
    parser.add_argument(
        "--loopback",
        action="store_true",
        help="all ranks on 127.0.0.1, as where no network namespace can be had",
    )
    parser.add_argument("--quick", action="store_true", help="thresholds of 12 s instead of auto")
    parser.add_argument("--list", action="store_true", help="prints the faults, and runs nothing")
    parser.add_argument(
        "--demo",
        action="store_true",
        help="prints the digest beside the truth: of one fault (sigkill), with the "
        "page and --quick unless told otherwise; each must be right",
    )
    parser.add_argument("--job", choices=["jax"], help=argparse.SUPPRESS)  # deploy/demo.sh says it
    parser.add_argument(
        "--patience", type=float, help="seconds for an incident to arise (75; with --quick 45)"
    )
    parser.add_argument(
        "--provoke",
        action="store_true",
        help="where no incident arises by itself, provokes one (after it is scored) and keeps its "
        "capture, provoked.jsonl, which has the stacks",
    )
    parser.add_argument("--bin", default=f"{ROOT}/build/dev/bin", help="folder of the daemons")
    parser.add_argument("--out", help="folder for logs and captures; default: build/jobs/<time>")
    asked = parser.parse_args()
    if asked.odd_rank is None and asked.ranks < 4:
        asked.odd_rank = asked.ranks - 1
    asked.fault = asked.fault or ("sigkill" if asked.demo else ",".join(FAULTS))
    asked.page |= asked.demo and not asked.no_page
    asked.quick |= asked.demo
    if asked.loopback:
        os.environ[networks.LOOPBACK] = "yes"
    unknown = [name for name in asked.fault.split(",") if name not in FAULTS]
    if unknown:
        parser.error(f"no such fault: {', '.join(unknown)}; there are: {', '.join(FAULTS)}")
    return asked


def experiments(asked):
    """The command of each run, and the folder it writes to."""
    asked.no_page |= asked.silent
    pages = [page for page, out in ((True, asked.no_page), (False, asked.page)) if not out]
    for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
        for name in asked.fault.split(","):
            for page in pages:
                folder = os.path.join(asked.out, f"{name}.{'page' if page else 'nopage'}.{seed}")
                command = [
                    environment.PYTHON,
                    "-B",
                    os.path.join(HERE, "experiment.py"),
                    f"--fault={name}",
                    f"--folder={folder}",
                    f"--seed={seed}",
                    f"--ranks={asked.ranks}",
                    f"--python={asked.python}",
                    f"--bin={asked.bin}",
                ]
                if asked.odd_rank is not None:
                    command.append(f"--odd-rank={asked.odd_rank}")
                if asked.program:
                    command.append(f"--program={asked.program}")
                if asked.patience:
                    command.append(f"--patience={asked.patience}")
                if asked.provoke:
                    command.append("--provoke")
                if page:
                    command.append("--page")
                if asked.silent:
                    command.append("--silent")
                if asked.sidecar:
                    command.append("--sidecar")
                if asked.launcher:
                    command.append(f"--launcher={asked.launcher}")
                if asked.quick:
                    command += [
                        "--launch-threshold=12s",
                        "--hang-threshold=12s",
                        # Nothing is concluded from the work of processes while a job starts.
                        f"--startup-grace={30 if asked.silent else 60}",
                        "--patience=45",
                    ]
                yield FAULTS[name], command, folder


def run_all(asked):
    """The results, in the order in which runs end."""
    waiting = []
    for fault, command, folder in experiments(asked):
        reasons = [reason for need in fault.needs if (reason := need())]
        if reasons:
            print(f"{fault.name}: left out: {reasons[0]}", file=sys.stderr)
        else:
            waiting.append((command, folder))
    running = {}
    while waiting or running:
        while waiting and len(running) < asked.jobs:
            command, folder = waiting.pop(0)
            one = processes.start(command, folder + ".log", death=signal.SIGTERM)
            running[one] = folder
        for one in [one for one in running if one.poll() is not None]:
            yield _result(running.pop(one))
        time.sleep(0.2)


def _result(folder):
    try:
        with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        name, page, seed = os.path.basename(folder).split(".")
        return {
            "fault": name,
            "page": page == "page",
            "seed": int(seed),
            "grade": "failed",
            "truth": str(FAULTS[name].truth),
            "problem": f"see {folder}.log",
        }


def main():
    asked = arguments()
    if asked.list:
        print(table.registry())
        return 0
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    asked.out = os.path.realpath(asked.out or f"{ROOT}/build/jobs/{stamp}-{os.getpid()}")
    try:
        asked.python = environment.prepare(f"{ROOT}/build")
    except environment.Unavailable as error:
        print(f"no JAX here: {error}")
        return SKIPPED
    os.makedirs(asked.out)
    if reason := networks.why_not():
        print(f"all ranks on loopback: {reason}", file=sys.stderr)
    processes.exit_on_signals()
    processes.adopt_orphans()
    results = []
    try:
        for result in run_all(asked):
            results.append(result)
            print(table.line(result), file=sys.stderr, flush=True)
            table.write(asked.out, results)
            if asked.demo:
                print(f"{result.get('text', '')}\ntruth:   {result['truth']}\n", flush=True)
    finally:
        _end_runs()
    print(table.markdown(results))
    print(f"\nlogs and captures: {asked.out}")
    failed = [
        result
        for result in results
        if result["grade"] != "right" and (asked.demo or table.must_be_right(result))
    ]
    for result in failed:
        print(f"not right: {table.line(result)}")
    return 1 if failed else 0


def _end_runs():
    """Lets runs clean up after themselves, then ends what is left."""
    for pid in processes.children(os.getpid()):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + 30
    while processes.descendants(os.getpid()) and time.monotonic() < deadline:
        processes.reap()
        time.sleep(0.1)
    processes.end_all()


if __name__ == "__main__":
    sys.exit(main())
