"""Builds the capture of a case, as the file that `rapideye diagnose` reads."""

import copy
import json
import subprocess


def worker_id(text):
    """The slice and task of "0/3"."""
    slice_number, task = text.split("/")
    return {"slice": int(slice_number), "task": int(task)}


def host_name(slice_number, task):
    return f"host-{slice_number}-{task}"


def header(name, capture):
    """The header with everybody who is expected; whoever was never heard of has no host."""
    unheard = set(capture.get("unheard", []))
    expected = []
    for slice_number, tasks in enumerate(capture["workers"]):
        for task in range(tasks):
            known = f"{slice_number}/{task}" not in unheard
            host = host_name(slice_number, task) if known else ""
            expected.append({"slice": slice_number, "task": task, "host": host})
    return {"version": 1, "job": name, "expectedWorkers": expected, **capture["header"]}


def cores(records):
    """A record that names several chips stands for a core on each."""
    out = []
    for record in records:
        core = {key: value for key, value in record.items() if key != "chips"}
        out += [{"chip": chip, **core} for chip in record["chips"]] if "chips" in record else [core]
    return out


class Recogniser:
    """Turns raw lines of a log into the events that an agent would have sent."""

    def __init__(self, rapideye):
        self.rapideye = rapideye
        self.known = {}

    def events(self, log):
        key = json.dumps(log)
        if key not in self.known:
            self.known[key] = self.recognise(log)
        return copy.deepcopy(self.known[key])

    def recognise(self, log):
        text = "".join(entry["line"] + "\n" for entry in log)
        run = subprocess.run([self.rapideye, "logs", "-"], input=text, capture_output=True,
                             text=True, check=True)
        events, report = [], None
        for line in run.stdout.splitlines():
            event = json.loads(line)
            number = event.pop("line")
            event.pop("file")
            # An event that a list of names ends may come after the last line.
            event["ageMs"] = log[min(number, len(log)) - 1]["ageMs"]
            if "pendingGraphs" in event:
                keys = ("pendingGraphs", "completed", "stepGloballyInProgress", "timeoutMs")
                report = {key: event.pop(key) for key in keys}
                report["launchId"] = event.get("launchId", 0)
            events.append(event)
        return events, report


def snapshots(capture, recogniser):
    """One record a worker; one that names several tasks stands for all of them."""
    for record in capture["snapshots"]:
        slice_number = record.get("slice", 0)
        for task in record["tasks"]:
            left_out = ("slice", "tasks", "log", "cores")
            snapshot = {key: value for key, value in record.items() if key not in left_out}
            snapshot["worker"] = {"slice": slice_number, "task": task}
            snapshot["host"] = host_name(slice_number, task)
            if "cores" in record:
                snapshot["cores"] = cores(record["cores"])
            if "log" in record:
                events, report = recogniser.events(record["log"])
                snapshot["logEvents"] = snapshot.get("logEvents", []) + events
                if report is not None:
                    snapshot["hangReport"] = report
            yield snapshot


def write(path, name, capture, recogniser):
    """Writes the capture as JSON Lines."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps({"header": header(name, capture)}) + "\n")
        for snapshot in snapshots(capture, recogniser):
            file.write(json.dumps({"snapshot": snapshot}) + "\n")
