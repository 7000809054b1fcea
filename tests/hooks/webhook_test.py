#!/usr/bin/python3 -B
"""The webhook against a receiver that checks what it gets, with and without TLS."""

import hashlib
import hmac
import http.server
import json
import ssl
import subprocess
import threading
import time
import unittest

from hook_case import CULPRIT, HookCase

SECRET = b"correct horse"


class Receiver(http.server.ThreadingHTTPServer):
    """Answers with these statuses in turn, then with 200."""

    def __init__(self, *statuses):
        super().__init__(("127.0.0.1", 0), Answer)
        self.statuses = list(statuses)
        self.got = []  # (headers, body)
        self.connections = 0
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def get_request(self):
        self.connections += 1
        return super().get_request()

    def handle_error(self, *_):
        pass  # a handshake that the client refused


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.headers, body))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        self.server.got.append((self.headers, b"GET"))
        self.send_error(404)

    def log_message(self, *_):
        pass


class Webhook(HookCase):
    def receiver(self, *statuses):
        receiver = Receiver(*statuses)
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        self.environment["RAPIDEYE_HOOK_WEBHOOK_PAUSE"] = "0.01"
        self.environment["RAPIDEYE_HOOK_WEBHOOK_URL"] = f"http://127.0.0.1:{receiver.server_port}/in"
        return receiver

    def test_sends_the_digest_signed(self):
        receiver = self.receiver()
        said = self.hook("webhook", remove=[CULPRIT],
                         WEBHOOK_SECRET_FILE=self.write("secret", SECRET.decode() + "\n"))
        self.assertEqual(said, "sent: 200\n")
        [(headers, body)] = receiver.got
        self.assertEqual(json.loads(body)["culprits"][0]["host"], CULPRIT)
        self.assertEqual(headers["Content-Type"], "application/json")
        self.assertEqual(headers["X-Rapideye-Remove-Hosts"], CULPRIT)
        stamp = headers["X-Rapideye-Timestamp"]
        self.assertLess(abs(int(stamp) - time.time()), 60)
        signed = f"{stamp}.20261003T035420Z-1a2b3c4d.{CULPRIT}.".encode() + body
        self.assertEqual(headers["X-Rapideye-Signature"],
                         "sha256=" + hmac.new(SECRET, signed, hashlib.sha256).hexdigest())

    def test_names_beyond_ascii_travel_in_the_body_alone(self):
        receiver = self.receiver()
        self.hook("webhook", remove=["hôst"])
        self.assertEqual(receiver.got[0][0]["X-Rapideye-Remove-Hosts"], "h?st")

    def test_tries_again_with_the_same_incident(self):
        receiver = self.receiver(503, 429, 408)
        self.assertIn("sent: 200", self.hook("webhook"))
        self.assertEqual([headers["X-Rapideye-Incident"] for headers, _ in receiver.got],
                         ["20261003T035420Z-1a2b3c4d"] * 4)
        self.assertNotIn("X-Rapideye-Signature", receiver.got[0][0])

    def test_does_not_insist_where_it_is_refused(self):
        receiver = self.receiver(403)
        self.assertIn("answers 403", self.hook("webhook", status=1))
        self.assertEqual(len(receiver.got), 1)

    def test_follows_no_redirect(self):
        receiver = self.receiver(302)
        self.assertIn("answers 302", self.hook("webhook", status=1))
        self.assertEqual(len(receiver.got), 1)

    def test_tls_is_verified(self):
        receiver = self.receiver()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.path("key"), "-out",
                        self.path("crt"), "-subj", "/CN=here", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("crt"), self.path("key"))
        receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
        url = f"https://127.0.0.1:{receiver.server_port}/in"
        self.assertIn("CERTIFICATE_VERIFY_FAILED", self.hook("webhook", status=1, WEBHOOK_URL=url))
        self.assertEqual((receiver.got, receiver.connections), ([], 1))
        self.hook("webhook", WEBHOOK_URL=url, WEBHOOK_CA_FILE=self.path("crt"))
        self.assertEqual(len(receiver.got), 1)

    def form(self, form, *statuses):
        """A receiver of this form; its bodies, in order, come from bodies()."""
        receiver = self.receiver(*statuses)
        self.environment["RAPIDEYE_HOOK_WEBHOOK_FORMAT"] = form
        self.digest["detectedAt"] = "2026-10-03T03:54:20Z"
        return receiver

    def bodies(self, receiver):
        return [json.loads(body) for _, body in receiver.got]

    def test_json_says_what_has_happened(self):
        receiver = self.receiver()
        for event in ("opened", "changed", "recovered"):
            self.hook("webhook", event=event)
        self.assertEqual([headers["X-Rapideye-Event"] for headers, _ in receiver.got],
                         ["opened", "changed", "recovered"])
        opened, changed, recovered = self.bodies(receiver)
        self.assertEqual(opened, changed)
        self.assertNotIn("event", opened)
        self.assertEqual(recovered, {**opened, "event": "recovered",
                                     "endedAt": "2026-10-03T06:01:23+00:00"})
        self.assertNotIn("X-Rapideye-Test", receiver.got[0][0])
        self.hook("webhook", test=True)
        self.assertEqual(receiver.got[3][0]["X-Rapideye-Test"], "1")

    def test_slack(self):
        receiver = self.form("slack")
        self.digest["job"] = "<!channel> & co"
        self.hook("webhook")
        self.hook("webhook", event="changed")
        self.hook("webhook", event="recovered")
        opened, changed, recovered = (body["text"] for body in self.bodies(receiver))
        self.assertIn("&lt;!channel&gt; &amp; co hangs: BAD_TPU_CHIP", opened)
        self.assertIn(CULPRIT, opened)
        self.assertIn(". tpu-1-2 chip 2 stopped in fusion.212. 31 cores wait for it.", opened)
        self.assertNotIn("Removed", opened)
        self.assertIn("the verdict is now BAD_TPU_CHIP", changed)
        self.assertIn("goes on after 2 h 7 min (BAD_TPU_CHIP", recovered)
        for text in (opened, changed, recovered):
            self.assertIn("20261003T035420Z-1a2b3c4d", text)
            self.assertNotIn("<", text)
            self.assertFalse(text.startswith("TEST"))
        self.hook("webhook", test=True)
        self.assertTrue(self.bodies(receiver)[3]["text"].startswith("TEST, nothing hangs"))
        self.hook("webhook", remove=[CULPRIT])
        self.assertTrue(self.bodies(receiver)[4]["text"].endswith(f"\nRemoved: {CULPRIT}"))
        self.hook("webhook", event="recovered", ended="2026-10-03T03:56:27+00:00")
        self.assertIn("goes on after 2 min 7 s (", self.bodies(receiver)[5]["text"])
        self.hook("webhook", event="recovered", ended="2026-10-03T03:54:19+00:00")
        self.assertIn("goes on (", self.bodies(receiver)[6]["text"])

    def test_pagerduty_triggers_and_resolves_one_alert(self):
        receiver = self.form("pagerduty")
        key = self.write("key", "R0UT1NGKEY\n")
        said = "".join(self.hook("webhook", event=event, WEBHOOK_SECRET_FILE=key)
                       for event in ("opened", "changed", "recovered"))
        opened, changed, recovered = self.bodies(receiver)
        for event in (opened, changed):
            self.assertEqual(set(event), {"routing_key", "event_action", "dedup_key", "payload"})
            self.assertEqual(event["event_action"], "trigger")
            self.assertEqual(event["payload"]["severity"], "critical")
            self.assertEqual(event["payload"]["timestamp"], "2026-10-03T03:54:20+00:00")
            self.assertTrue(event["payload"]["source"])
            self.assertIn(CULPRIT, event["payload"]["summary"])
        self.assertEqual((opened["payload"]["class"], opened["payload"]["component"]),
                         ("BAD_TPU_CHIP", CULPRIT))
        self.assertEqual([event["payload"]["custom_details"] for event in (opened, changed)],
                         [{"incident": "20261003T035420Z-1a2b3c4d", "event": event,
                           "detail": "TENSOR_CORE", "removed": ""}
                          for event in ("opened", "changed")])
        self.assertEqual(recovered, {"routing_key": "R0UT1NGKEY", "event_action": "resolve",
                                     "dedup_key": "20261003T035420Z-1a2b3c4d"})
        self.assertEqual({opened["dedup_key"], changed["dedup_key"]}, {recovered["dedup_key"]})
        self.assertNotIn("R0UT1NGKEY", said)
        self.assertNotIn("X-Rapideye-Signature", receiver.got[0][0])
        self.hook("webhook", test=True, WEBHOOK_SECRET_FILE=key)
        self.assertEqual(self.bodies(receiver)[3]["payload"]["severity"], "info")
        self.hook("webhook", remove=[CULPRIT], WEBHOOK_SECRET_FILE=key)
        self.assertEqual(self.bodies(receiver)[4]["payload"]["custom_details"]["removed"], CULPRIT)
        self.assertIn("routing key", self.hook("webhook", status=2))

    def test_alertmanager_ends_the_alert_that_it_began(self):
        receiver = self.form("alertmanager")
        for event in ("opened", "changed", "recovered"):
            if event == "changed":
                self.digest["cause"] = "NETWORKING_ISSUE"
            self.hook("webhook", event=event)
        [opened], [changed], [recovered] = self.bodies(receiver)
        self.assertEqual(opened["labels"]["alertname"], "RapideyeIncident")
        self.assertEqual(opened["labels"], changed["labels"])
        self.assertEqual(opened["labels"], recovered["labels"])
        self.assertEqual([alert["annotations"]["cause"] for alert in (opened, changed)],
                         ["BAD_TPU_CHIP", "NETWORKING_ISSUE"])
        self.assertEqual(opened["annotations"]["culprits"], CULPRIT)
        self.assertEqual(opened["labels"]["severity"], "critical")
        for alert in (opened, changed, recovered):
            self.assertEqual(alert["startsAt"], "2026-10-03T03:54:20+00:00")
        self.assertEqual(opened["endsAt"], "2026-11-02T03:54:20+00:00")
        self.assertEqual(recovered["endsAt"], "2026-10-03T06:01:23+00:00")
        self.hook("webhook", test=True)
        self.assertEqual(self.bodies(receiver)[3][0]["labels"]["severity"], "info")

    def test_an_end_before_the_beginning_is_the_beginning(self):
        receiver = self.form("alertmanager")
        self.hook("webhook", event="recovered", ended="2026-10-03T03:54:19+00:00")
        [[alert]] = self.bodies(receiver)
        self.assertEqual(alert["endsAt"], alert["startsAt"])

    def test_ten_hosts_are_named_and_the_others_counted(self):
        receiver = self.form("slack")
        self.digest["culprits"] = [{"host": f"host-{number}"} for number in range(12)]
        self.hook("webhook")
        [text] = (body["text"] for body in self.bodies(receiver))
        self.assertIn("host-8, host-9 and 2 more. ", text)

    def test_what_stopped_takes_the_place_of_the_stock_headline(self):
        receiver = self.form("slack")
        self.digest["headline"] = "Megascale detects a hang."
        self.digest.pop("sentence", None)  # an older release wrote none
        self.hook("webhook")
        self.digest["sentence"] = "host-3 chip 2 stopped in fusion.2. 31 cores wait for it."
        self.hook("webhook")
        old, new = (body["text"] for body in self.bodies(receiver))
        self.assertIn(self.digest["headline"], old)
        self.assertIn("host-3 chip 2 stopped in fusion.2. 31 cores wait for it.", new)
        self.assertNotIn(self.digest["headline"], new)

    def test_messages_are_bounded(self):
        self.digest["culprits"] = [{"host": f"host-{number}" + "x" * 300} for number in range(5000)]
        self.digest["headline"] = self.digest["sentence"] = "y\n\x1b[2J" * 100000
        self.digest["job"] = "j" * 10000
        key = self.write("key", "k")
        for form in ("slack", "pagerduty", "alertmanager"):
            receiver = self.form(form)
            self.hook("webhook", remove=[f"host-{number}" for number in range(2000)],
                      WEBHOOK_SECRET_FILE=key)
            self.assertLess(len(receiver.got[0][1]), 8000, form)
            self.assertNotIn(b"\\u001b", receiver.got[0][1])

    def test_without_a_digest_the_name_tells_when(self):
        self.digest = None
        for form in ("slack", "pagerduty", "alertmanager"):
            receiver = self.receiver()
            self.hook("webhook", WEBHOOK_FORMAT=form, WEBHOOK_SECRET_FILE=self.write("key", "k"))
            self.assertIn(b"BAD_TPU_CHIP", receiver.got[0][1], form)

    def test_a_url_that_is_a_secret_is_not_printed(self):
        receiver = self.form("slack", 403)
        file = self.write("url", self.environment.pop("RAPIDEYE_HOOK_WEBHOOK_URL") + "/T0/secret\n")
        said = self.hook("webhook", status=1, WEBHOOK_URL_FILE=file)
        self.assertIn(f"http://127.0.0.1:{receiver.server_port} answers 403", said)
        self.assertNotIn("secret", said)
        for url in ("http://127.0.0.1:1/secret", "https://secret:secret", "https://here/secret b",
                    "ftp://here/secret"):
            with open(file, "w", encoding="utf-8") as out:
                out.write(url)
            wrong = self.hook("webhook", status=1 if ":1/" in url else 2, WEBHOOK_URL_FILE=file,
                              WEBHOOK_TIMEOUT="0.1", WEBHOOK_PAUSE="60")
            self.assertNotIn("secret", wrong)

    def test_settings_that_cannot_be_right(self):
        self.assertIn("is not set", self.hook("webhook", status=2))
        # An address of this machine that counts as another's: without TLS only where that is allowed.
        self.assertIn("https://", self.hook("webhook", status=2, WEBHOOK_URL="http://127.0.0.2:1/"))
        tried = self.hook("webhook", status=1, WEBHOOK_URL="http://127.0.0.2:1/", WEBHOOK_INSECURE="1",
                          WEBHOOK_PAUSE="60")
        self.assertIn("http://127.0.0.2:1: ", tried)
        for url in ("http://example.com/", "ftp://127.0.0.1/", "nonsense"):
            self.assertIn("https://", self.hook("webhook", status=2, WEBHOOK_URL=url))
        self.receiver()
        for settings in ({"WEBHOOK_SECRET_FILE": "/none"}, {"WEBHOOK_CA_FILE": "/none"},
                         {"WEBHOOK_SECRET_FILE": self.write("empty", "")}, {"WEBHOOK_TIMEOUT": "soon"}, {"WEBHOOK_FORMAT": "fax"},
                         {"WEBHOOK_URL_FILE": "/none"}):
            self.hook("webhook", status=2, **settings)


if __name__ == "__main__":
    unittest.main()
