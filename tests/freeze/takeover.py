#!/usr/bin/python3
"""A new coordinator starts on the state that an old one has just left, and says the same of it.

usage: takeover.py OLD_PROGRAMS NEW_PROGRAMS STATE_DIR RUNS HOOK...

RUNS is a file to which every HOOK adds a line when it is run. Whatever was asked of the
old coordinator is asked of the new one, each by the old and by the new `rapideye`.
"""

import difflib
import json
import os
import sqlite3
import sys
import tempfile

from state_test import Coordinator, ask, dump, incident_files, read

FORMS = (("text", "digest.txt"), ("json", "digest.json"), ("html", "digest.html"),
         ("capture", "capture.jsonl.gz"))
LIST = ("the list of incidents",)


def answers(coordinator, state, asker):
    """What everything that one may ask about the state printed, by question."""
    incidents = sorted(os.listdir(os.path.join(state, "incidents")))
    questions = [("show", "latest")]
    questions += [("show", incident, f"--format={form}") for incident in incidents
                  for form, _ in FORMS]
    told = {question: coordinator.ask(*question, programs=asker) for question in questions}
    # A table for people may gain columns, and objects fields.
    table = coordinator.ask("incidents", programs=asker)
    told[("the table of incidents",)] = [line.split()[0] for line in table.splitlines()]
    told[LIST] = [json.loads(line) for line in
                  coordinator.ask("incidents", "--format=json", programs=asker).splitlines()]
    coordinator.ask("status", programs=asker)  # which tells the time, too
    for incident in incidents:
        for form, name in FORMS:
            file = read(os.path.join(state, "incidents", incident, name))
            if told[("show", incident, f"--format={form}")] != file:
                raise SystemExit(f"WRONG: rapideye show {incident} --format={form} is not {name}")
    return told


def fleet_answers(state, programs):
    database = f"--fleet-db=sqlite:{os.path.join(state, 'fleet.db')}"
    return [ask(programs, "fleet", *question, database)
            for question in (("offenders",), ("offenders", "--format=json"), ("precision",),
                             ("breaker",))]


def databases(state):
    journal = os.path.join(state, "journal.db")
    if not os.path.exists(journal):
        journal += ".taken-over"  # by the new coordinator, which has no use for it any more
    return {"fleet": dump(os.path.join(state, "fleet.db")), "journal": dump(journal)}


def unfinished(state):
    """Incidents of which a hook has still to be run."""
    database = sqlite3.connect(os.path.join(state, "journal.db"))
    rows = database.execute("SELECT incident FROM fleet_tasks WHERE state IN ('due', 'acting')")
    incidents = [incident for incident, in rows.fetchall()]
    database.close()
    return incidents


def compare(what, was, now):
    if was == now:
        return
    lines = difflib.unified_diff(str(was).splitlines(), str(now).splitlines(), "old", "new",
                                 lineterm="", n=0)
    raise SystemExit("\n".join([f"WRONG: {what} changed", *(line[:400] for line in lines)][:60]))


def run(programs, state, hooks, work):
    """Starts a coordinator on the state, lets `work` use it, and stops it."""
    with tempfile.TemporaryDirectory() as folder:
        coordinator = Coordinator(programs, folder, state, hooks)
        try:
            result = work(coordinator)
            if coordinator.stop() != 0:
                raise SystemExit("WRONG: it does not end well:\n" + "".join(coordinator.log))
            return result
        finally:
            coordinator.process.kill()
            coordinator.process.wait()


def main(old, new, state, runs, *hooks):
    # Where the job ended too soon for a hook, the old coordinator runs it now.
    due = unfinished(state)
    run(old, state, hooks, lambda coordinator: [coordinator.line(f"hook .*{incident}")
                                                for incident in due])
    compare("what is due", [], unfinished(state))
    before, files, hook_runs = databases(state), incident_files(state), read(runs)
    if not files or not hook_runs:
        raise SystemExit("WRONG: the old coordinator has left no incident, or has run no hook")
    fleet = fleet_answers(state, old)
    told = None
    for programs in (old, new):
        for asker in (old, new):
            now = run(programs, state, hooks,
                      lambda coordinator, asker=asker: answers(coordinator, state, asker))
            told = told or now
            now[LIST] = [{field: value for field, value in incident.items() if field in known}
                         for incident, known in zip(now[LIST], told[LIST], strict=True)]
            for question, answer in told.items():
                compare(" ".join(question), answer, now[question])
    for name, now in databases(state).items():
        compare(f"{name}.db", before[name], now)
    compare("which files the incidents have", sorted(files), sorted(incident_files(state)))
    for path, content in incident_files(state).items():
        compare(path, files[path], content)
    compare("which hooks were run", hook_runs, read(runs))
    for was, now in zip(fleet, fleet_answers(state, new)):
        compare("what rapideye fleet says", was, now)
    print(f"right: {len(files)} files, {len(hook_runs.splitlines())} runs of hooks, {len(told)} "
          "answers: as the old coordinator left them")


if __name__ == "__main__":
    main(*sys.argv[1:])
