#!/usr/bin/python3
"""What --otlp-endpoint sends is read back by the protos that OpenTelemetry publishes.

    otlp_test.py BIN BUILD

A job of one worker ends badly and starts again; its coordinator sends to a receiver here, which at first asks
for another try. The protos come from PyPI into a virtual environment below
BUILD; skipped where they cannot be had.
"""

import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "jobs"))

import environment  # noqa: E402

SKIPPED = 77
# A field that the protos do not know is an error.
READ_BACK = """
import json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
request = json_format.Parse(sys.stdin.buffer.read(), ExportLogsServiceRequest())
assert ExportLogsServiceRequest.FromString(request.SerializeToString()) == request
def value(any_value):
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(one) for one in any_value.array_value.values]
    return getattr(any_value, kind)
def values(attributes):
    return {one.key: value(one.value) for one in attributes}
print(json.dumps([
    {"resource": values(logs.resource.attributes), "scope": scope.scope.name, "name": record.event_name,
     "time": record.time_unix_nano, "observed": record.observed_time_unix_nano,
     "severity": record.severity_number, "severity_text": record.severity_text,
     "body": value(record.body), "attributes": values(record.attributes)}
    for logs in request.resource_logs for scope in logs.scope_logs for record in scope.log_records]))
"""


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes what is posted, but for the first request."""

    bodies = []
    paths = set()
    types = set()
    refused = []
    there = threading.Event()
    over = threading.Event()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.refused:
            self.refused.append(body)
            self.send_response(503)
            self.end_headers()
            return
        self.bodies.append(body)
        self.paths.add(self.path)
        self.types.add(self.headers["Content-Type"])
        answer = b'{"partialSuccess":{}}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.there.set()
        if b"rapideye.incident.recovered" in body:
            self.over.set()

    def log_message(self, *arguments):
        pass


class OtlpTest(unittest.TestCase):
    bin = python = ""

    @classmethod
    def setUpClass(cls):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        cls.addClassCleanup(server.server_close)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        cls.addClassCleanup(thread.join)
        cls.addClassCleanup(server.shutdown)
        endpoint = f"http://127.0.0.1:{server.server_port}"
        with tempfile.TemporaryDirectory() as state:
            cls.output = cls.run_job(state, endpoint)
        cls.records = []
        for body in Receiver.bodies:
            read = subprocess.run([cls.python, "-c", READ_BACK], input=body, capture_output=True, check=False)
            if read.returncode:
                raise AssertionError(f"{read.stderr.decode()}\n{body.decode()}")
            cls.records += json.loads(read.stdout)

    @classmethod
    def run_job(cls, state, endpoint):
        """A job of one worker ends badly and starts again; returns what its coordinator logs.

        It knows the job's name by the agent alone.
        """
        with subprocess.Popen(
            [os.path.join(cls.bin, "rapideye-coordinator"), "--slices=1", "--tasks-per-slice=1",
             "--listen=127.0.0.1:0", "--http=off", f"--state-dir={state}", f"--otlp-endpoint={endpoint}"],
            stderr=subprocess.PIPE, text=True) as coordinator:
            log = ""
            for line in coordinator.stderr:
                log += line
                if address := re.search(r"listening on (\S+)", line):
                    break
            agent = [os.path.join(cls.bin, "rapideye-agent"), f"--coordinator={address[1]}", "--job=job",
                     "--slice=0", "--task=0", "--host=host", "--runtime=127.0.0.1:1", "--state-dir=off", "exec", "--"]
            subprocess.run([*agent, "false"], capture_output=True, check=False, timeout=120)
            Receiver.there.wait(60)
            with subprocess.Popen([*agent, "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as again:
                Receiver.over.wait(60)
                again.communicate(timeout=60)
            coordinator.terminate()
            return log + coordinator.communicate(timeout=60)[1]

    def of(self, name):
        found = [record for record in self.records if record["name"] == f"rapideye.incident.{name}"]
        self.assertTrue(found, f"{[record['name'] for record in self.records]}\n{self.output}")
        return found

    def test_it_goes_where_logs_go(self):
        self.assertEqual(Receiver.paths, {"/v1/logs"})
        self.assertEqual(Receiver.types, {"application/json"})

    def test_what_found_no_receiver_is_sent_again(self):
        first = json.loads(Receiver.refused[0])["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
        again = json.loads(Receiver.bodies[0])["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
        self.assertEqual(first, again)

    def test_a_hang_is_an_error_with_the_fields_of_its_digest(self):
        record = self.of("opened")[0]
        self.assertEqual((record["severity"], record["severity_text"]), (17, "ERROR"))
        self.assertEqual(record["resource"]["service.name"], "rapideye-coordinator")
        self.assertEqual(record["scope"], "rapideye")
        self.assertIn("Full error digest:", record["body"])
        self.assertLess(0, record["time"])
        self.assertLessEqual(record["time"], record["observed"])
        attributes = record["attributes"]
        self.assertIn(f"Incident: {attributes['rapideye.incident']}", record["body"])
        self.assertEqual(attributes["rapideye.event"], "opened")
        self.assertEqual(attributes["rapideye.revision"], 1)
        self.assertEqual(attributes["rapideye.job"], "job")
        self.assertTrue(attributes["rapideye.cause"])
        self.assertIsInstance(attributes["rapideye.culprits"], list)

    def test_a_recovery_names_the_same_incident_and_job(self):
        opened, (over,) = self.of("opened")[0], self.of("recovered")
        self.assertEqual((over["severity"], over["severity_text"]), (9, "INFO"))
        for key in ("rapideye.incident", "rapideye.job"):
            self.assertEqual(over["attributes"][key], opened["attributes"][key])
        self.assertIn("restarted", over["body"])
        self.assertLess(opened["time"], over["time"])


def main():
    OtlpTest.bin, build = sys.argv[1:]
    try:
        folder = environment.prepare(build, os.path.join(HERE, "requirements.txt"), "the protos of OpenTelemetry")
    except environment.Unavailable as reason:
        print(f"no published protos here: {reason}")
        return SKIPPED
    OtlpTest.python = os.path.join(folder, "bin", "python")
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
