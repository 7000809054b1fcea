#!/usr/bin/python3
"""deploy/monitoring, held against the daemons and against Prometheus' own tool.

usage: monitoring.py DEPLOY BIN CACHE

Alerts fire when they must (promtool test rules), each has a test and a section of the runbook, and
so has every cause; promtool finds no fault with the pages of metrics; every metric that a rule or
the dashboard asks for is one that a daemon really serves, and every expression of the dashboard is
one that Prometheus understands. promtool is that of the machine, or comes from Debian's package,
unpacked below CACHE and not installed: installing it would start a server. Without either this is
skipped.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import yaml

SKIPPED = 77
DAEMONS = {
    "rapideye-coordinator": [
        "--job=monitored",
        "--listen=127.0.0.1:0",
        "--http=127.0.0.1:0",
        "--slices=1",
        "--tasks-per-slice=1",
        "--state-dir={state}",
    ],
    "rapideye-agent": [
        "--slice=0",
        "--task=0",
        "--coordinator=127.0.0.1:1",
        "--metrics-port=0",
        "--state-dir={state}",
    ],
    "rapideye": ["remover", "--fleet-db=sqlite:{state}/fleet.db", "--http=127.0.0.1:0"],
}
METRIC = re.compile(r"\b(?:rapideye_(?:coordinator|agent|remover)|process)_[a-z_]+\b")
RECORD = re.compile(r"\brapideye:[a-z_]+:[a-z0-9_]+\b")


class Unavailable(Exception):
    """There is no promtool; the text is the reason."""


def find_promtool(cache):
    found = shutil.which("promtool")
    if found:
        return found
    unpacked = os.path.join(cache, "promtool", "usr", "bin", "promtool")
    if os.path.exists(unpacked):
        return unpacked
    with tempfile.TemporaryDirectory() as folder:
        fetched = subprocess.run(
            ["apt-get", "download", "prometheus"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        packages = glob.glob(os.path.join(folder, "prometheus_*.deb"))
        if fetched.returncode or not packages:
            reason = (fetched.stderr.strip() or "no reason given").splitlines()[-1]
            raise Unavailable(f"Debian's prometheus cannot be fetched: {reason}")
        half = tempfile.mkdtemp(dir=cache)
        subprocess.run(["dpkg-deb", "-x", packages[0], half], check=True)
        os.rename(half, os.path.join(cache, "promtool"))
    return unpacked


def served(program, arguments):
    """A daemon's page of metrics."""
    with tempfile.TemporaryDirectory() as state:
        with subprocess.Popen(
            [program, *(argument.format(state=state) for argument in arguments)],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        ) as daemon:
            try:
                for line in daemon.stderr:
                    address = re.search(r"metrics at (http://[\d.:]+)/", line)
                    if address:
                        break
                with urllib.request.urlopen(f"{address.group(1)}/metrics", timeout=10) as page:
                    return page.read().decode()
            finally:
                daemon.terminate()
                daemon.communicate()


def series_of(page):
    """The families that a page has, of histograms their series."""
    return {re.split(r"[ {]", line)[0] for line in page.splitlines() if not line.startswith("#")}


class MonitoringTest(unittest.TestCase):
    deploy = bin = promtool = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(cls.deploy, "monitoring")
        cls.rules = cls.read_yaml("rules.yaml")
        cls.all_rules = [rule for group in cls.rules["groups"] for rule in group["rules"]]
        cls.alerts = [rule for rule in cls.all_rules if "alert" in rule]
        with open(os.path.join(cls.folder, "dashboard.json"), encoding="utf-8") as file:
            cls.dashboard = json.load(file)
        with open(os.path.join(cls.folder, "RUNBOOK.md"), encoding="utf-8") as file:
            cls.sections = set(re.findall(r"^### (\S+)$", file.read(), re.M))
        cls.pages = {
            program: served(os.path.join(cls.bin, program), arguments)
            for program, arguments in DAEMONS.items()
        }
        cls.series = set().union(*map(series_of, cls.pages.values()))

    @classmethod
    def read_yaml(cls, name):
        with open(os.path.join(cls.folder, name), encoding="utf-8") as file:
            return yaml.safe_load(file)

    def ask_promtool(self, *arguments, page=""):
        done = subprocess.run(
            [self.promtool, *arguments],
            cwd=self.folder,
            input=page,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def dashboard_expressions(self):
        found = [
            target["expr"] for panel in self.dashboard["panels"] for target in panel.get("targets", [])
        ]
        found += [note["expr"] for note in self.dashboard["annotations"]["list"]]
        self.assertGreater(len(found), 20)
        return found

    # Served only once the job has shown something, or the loop has turned.
    LATER = ("still_seconds", "threshold_seconds", "seconds_since_loop_turn")

    def assert_served(self, expression):
        later = {f"rapideye_coordinator_{name}" for name in self.LATER}
        for name in METRIC.findall(expression):
            self.assertIn(name, self.series | later, expression)

    def test_what_is_served_later_is_in_the_source(self):
        source = os.path.join(self.deploy, "..", "coordinator", "server", "metrics.cc")
        with open(source, encoding="utf-8") as file:
            text = file.read()
        for name in self.LATER:
            self.assertIn(f'Gauge("{name}"', text)

    def test_names_and_units_of_all_metrics_are_as_prometheus_wants_them(self):
        for program, page in self.pages.items():
            with self.subTest(program):
                self.ask_promtool("check", "metrics", page=page)

    def test_rules_are_valid_and_their_tests_pass(self):
        self.ask_promtool("check", "rules", "rules.yaml")
        self.ask_promtool("test", "rules", "rules_test.yaml")

    def test_every_alert_has_a_test_that_expects_it(self):
        expected = {
            case["alertname"]
            for test in self.read_yaml("rules_test.yaml")["tests"]
            for case in test.get("alert_rule_test", [])
            if case["exp_alerts"]
        }
        self.assertEqual(expected, {rule["alert"] for rule in self.alerts})

    def test_every_alert_and_every_cause_is_in_the_runbook(self):
        for rule in self.alerts:
            self.assertIn(rule["alert"], self.sections)
            self.assertEqual(
                rule["annotations"]["runbook"],
                f"deploy/monitoring/RUNBOOK.md#{rule['alert'].lower()}",
            )
        causes = os.path.join(self.deploy, "..", "classifier", "CAUSES.md")
        with open(causes, encoding="utf-8") as file:
            named = re.findall(r"^\| `([A-Z_]+)` \| [A-Z]", file.read(), re.M)
        self.assertGreater(len(named), 5)
        self.assertEqual(set(named) - self.sections, set())

    def test_rules_ask_for_what_is_served(self):
        recorded = {rule["record"] for rule in self.all_rules if "record" in rule}
        for rule in self.all_rules:
            self.assert_served(rule["expr"])
            self.assertLessEqual(set(RECORD.findall(rule["expr"])), recorded)

    def test_the_dashboard_asks_for_what_is_served_in_expressions_that_prometheus_reads(self):
        expressions = self.dashboard_expressions()
        for expression in expressions:
            self.assert_served(expression)
        rules = [
            {"record": f"dashboard:{i}", "expr": re.sub(r"\$(job|instance)", ".*", expression)}
            for i, expression in enumerate(expressions)
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
            file.flush()
            self.ask_promtool("check", "rules", file.name)

    def test_panels_lie_side_by_side(self):
        taken = set()
        for panel in self.dashboard["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            self.assertFalse(taken & cells, panel["title"])
            taken |= cells

    def test_pods_are_scraped_at_ports_that_the_examples_may_open(self):
        with open(os.path.join(self.folder, "podmonitor.yaml"), encoding="utf-8") as file:
            jobs, remover = yaml.safe_load_all(file)
        ports = [endpoint["port"] for endpoint in jobs["spec"]["podMetricsEndpoints"]]
        self.assertEqual(ports, ["http", "agent-metrics"])
        with open(os.path.join(self.deploy, "kubernetes", "remover.yaml"), encoding="utf-8") as file:
            deployment = next(one for one in yaml.safe_load_all(file) if one["kind"] == "Deployment")
        pod = deployment["spec"]["template"]
        ports = {port["name"] for port in pod["spec"]["containers"][0]["ports"]}
        scraped = [endpoint["port"] for endpoint in remover["spec"]["podMetricsEndpoints"]]
        self.assertEqual(set(scraped), ports)
        self.assertEqual(remover["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"])
        self.assertEqual(remover["metadata"]["namespace"], deployment["metadata"]["namespace"])


def main():
    MonitoringTest.deploy, MonitoringTest.bin, cache = sys.argv[1:]
    try:
        MonitoringTest.promtool = find_promtool(cache)
    except Unavailable as reason:
        print(f"no promtool here: {reason}")
        return SKIPPED
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
