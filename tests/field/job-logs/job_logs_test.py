#!/usr/bin/python3
"""What rapideye tells of the logs of jobs is what they can tell: see README.md.

usage: job_logs_test.py RAPIDEYE
"""

import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RAPIDEYE = None
INDEX_LABEL = "k8s-pod/batch_kubernetes_io/job-completion-index"


def sets():
    return sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(f"{HERE}/*/truth.json"))


def truth(name):
    with open(f"{HERE}/{name}/truth.json", encoding="utf-8") as file:
        return json.load(file)["told"]


def files(name):
    return sorted(p for p in glob.glob(f"{HERE}/{name}/*") if not p.endswith("truth.json"))


def diagnose(paths, *flags):
    run = subprocess.run([RAPIDEYE, "diagnose", *flags, *paths], capture_output=True, text=True,
                         check=False)
    if run.returncode != 0:
        raise AssertionError(f"status {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def fault(verdict, told):
    """Says what is wrong with the verdict; nothing: it is right."""
    if verdict["cause"] not in told["causes"]:
        return f"the cause is {verdict['cause']}"
    if verdict["cause"] != "UNKNOWN" and verdict.get("detail") not in told.get(
            "details", [verdict.get("detail")]):
        return f"the detail is {verdict['detail']}"
    named = [culprit["rank"] for culprit in verdict["culprits"]]
    # Who cannot tell names nobody.
    if named != told["ranks"] and (named or verdict["cause"] != "UNKNOWN"):
        return f"the culprits are {named}"
    if "hostActivity" in told and verdict["culprits"][0]["hostActivity"] != told["hostActivity"]:
        return f"the culprit is in {verdict['culprits'][0]['hostActivity']}"
    return None


def lines_of(name):
    """Of each rank the lines, as (time, text): the time of a line without one is that before it."""
    ranks = {}
    for path in files(name):
        with open(path, encoding="utf-8") as file:
            text = file.read().split("\n")[:-1]
        base = os.path.basename(path)
        if base.endswith(".json"):
            for entry in map(json.loads, text):
                rank = int(entry["labels"][INDEX_LABEL])
                ranks.setdefault(rank, []).append((entry["timestamp"], entry["textPayload"]))
        elif base.startswith("slurm"):
            for line in text:
                rank, _, rest = line.partition(": ")
                ranks.setdefault(int(rank), []).append((None, rest))
        elif base.startswith("rank"):
            ranks[int(base[5:-4])] = [(None, line) for line in text]
        else:
            ranks[int(base[:-4].split("-")[-1])] = [tuple(line.split(" ", 1)) for line in text]
    return {rank: timed(lines) for rank, lines in ranks.items()}


def timed(lines):
    result = []
    last = ""
    for time, text in lines:
        if python := re.match(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3}) ", text):
            last = f"{python[1]}T{python[2]}.{python[3]}000Z"
        if absl := re.match(r"[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{6}) ", text):
            last = f"2026-{absl[1]}-{absl[2]}T{absl[3]}Z"
        result.append((time or last, text))
    return result


def together(ranks):
    """All lines by time, as (time, rank, text)."""
    lines = [(time, rank, number, text) for rank, of_rank in ranks.items()
             for number, (time, text) in enumerate(of_rank)]
    return [(time, rank, text) for time, rank, _, text in sorted(lines, key=lambda one: one[0])]


def pod(rank):
    return f"train-slice-0-{rank}-x{rank}k2q"


def entries(ranks):
    return [{"insertId": f"{number:08}", "timestamp": time, "textPayload": text,
             "resource": {"labels": {"pod_name": pod(rank), "container_name": "jax"}},
             "labels": {INDEX_LABEL: str(rank)}}
            for number, (time, rank, text) in enumerate(together(ranks))]


# Each returns {name: text}.
def a_file_a_rank(ranks):
    return {f"rank-{rank}.log": "".join(f"{text}\n" for _, text in lines)
            for rank, lines in ranks.items()}


def compressed_a_host(ranks):
    return {f"host{rank + 1:03}.txt.gz": text
            for rank, text in zip(ranks, a_file_a_rank(ranks).values())}


def coloured(ranks):
    return {f"{rank}/stdout.log": "".join(f"\x1b[1;31m{text}\x1b[0m\r\n" for _, text in lines)
            for rank, lines in ranks.items()}


def kubectl_timestamps(ranks):
    return {f"{pod(rank)}.log": "".join(f"{time} {text}\n" for time, text in lines)
            for rank, lines in ranks.items()}


def kubectl_prefix(ranks):
    return {"job.log": "".join(f"[pod/{pod(rank)}/jax] {time} {text}\n"
                               for time, rank, text in together(ranks))}


def srun_label(ranks):
    return {"slurm-4711.out": "".join(f"{rank}: {text}\n" for _, rank, text in together(ranks))}


def mpirun_tags(ranks):
    return {"job.log": "".join(f"[1,{rank}]<stderr>:{text}\n" for _, rank, text in together(ranks))}


def export_newest_first(ranks):
    return {"export.json": json.dumps(entries(ranks)[::-1], indent=2)}


def export_of_objects(ranks):
    return {"export.json": "".join(
        json.dumps({"jsonPayload": {"message": entry["textPayload"]}, "timestamp": entry["timestamp"],
                    "resource": entry["resource"]}) + "\n" for entry in entries(ranks))}


def pdsh_hosts(ranks):
    return {"job.log": "".join(f"gpu{rank + 9:03}: {text}\n" for _, rank, text in together(ranks))}


def xla_dist(ranks):
    stamp = {"": "2026-11-22 00:00:00"}
    return {"job.log": "".join(
        f"{stamp.get(time, f'{time[:10]} {time[11:19]}')} 10.164.0.{90 - rank} [{rank}] {text}\n"
        for time, rank, text in together(ranks))}


def ray(ranks):
    """A process knows its rank only if it says so: each begins with that."""
    lines = [("", rank, f"Setting up process group: env:// [rank={rank}, world_size={len(ranks)}]")
             for rank in ranks] + together(ranks)
    label = {rank: f"(Trainer pid={9000 - rank}" + (f", ip=10.0.0.{rank})" if rank else ")")
             for rank in ranks}
    return {"job.log": "".join(f"{label[rank]} {text}\n" for _, rank, text in lines)}


FORMS = (a_file_a_rank, compressed_a_host, coloured, kubectl_timestamps, kubectl_prefix, srun_label,
         mpirun_tags, pdsh_hosts, xla_dist, ray, export_newest_first, export_of_objects)


def write(folder, named):
    paths = []
    for name, text in named.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        opened = gzip.open if name.endswith(".gz") else open
        with opened(path, "wt", encoding="utf-8", newline="") as file:
            file.write(text)
        paths.append(path)
    return paths


class JobLogs(unittest.TestCase):
    def test_the_sets_tell_what_they_can(self):
        self.assertGreaterEqual(len(sets()), 12)
        for name in sets():
            verdict = diagnose(files(name))
            print(f"{name}: {verdict['cause']} {verdict.get('detail', '')} "
                  f"{[culprit['rank'] for culprit in verdict['culprits']]}", file=sys.stderr)
            with self.subTest(name):
                self.assertIsNone(fault(verdict, truth(name)))
                self.assertEqual(verdict["logs"], files(name))
                self.assertNotIn("capture", verdict)
                for culprit in verdict["culprits"]:
                    self.assertEqual((culprit["slice"], culprit["task"]), (0, culprit["rank"]))

    def test_a_host_that_never_spoke_is_not_guessed(self):
        with tempfile.TemporaryDirectory() as at:
            paths = write(at, pdsh_hosts(lines_of("never-started")))
            self.assertEqual(diagnose(paths)["culprits"], [])

    def test_the_form_of_the_logs_changes_nothing(self):
        for name in sets():
            for form in FORMS:
                # Hosts without numbers of ranks do not tell which of them never spoke.
                if form is pdsh_hosts and name == "never-started":
                    continue
                with self.subTest(f"{name} as {form.__name__}"), tempfile.TemporaryDirectory() as at:
                    paths = write(at, form(lines_of(name)))
                    self.assertIsNone(fault(diagnose(paths), truth(name)))
                    self.assertIsNone(fault(diagnose(paths[::-1]), truth(name)))


if __name__ == "__main__":
    RAPIDEYE = sys.argv.pop(1)
    unittest.main()
