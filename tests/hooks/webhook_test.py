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
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

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

    def test_tries_again_with_the_same_incident(self):
        receiver = self.receiver(503, 429)
        self.assertIn("sent: 200", self.hook("webhook"))
        self.assertEqual([headers["X-Rapideye-Incident"] for headers, _ in receiver.got],
                         ["20261003T035420Z-1a2b3c4d"] * 3)
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
        self.assertEqual(receiver.got, [])
        self.hook("webhook", WEBHOOK_URL=url, WEBHOOK_CA_FILE=self.path("crt"))
        self.assertEqual(len(receiver.got), 1)

    def test_settings_that_cannot_be_right(self):
        self.assertIn("is not set", self.hook("webhook", status=2))
        for url in ("http://example.com/", "ftp://127.0.0.1/", "nonsense"):
            self.assertIn("https://", self.hook("webhook", status=2, WEBHOOK_URL=url))
        self.receiver()
        for settings in ({"WEBHOOK_SECRET_FILE": "/none"}, {"WEBHOOK_CA_FILE": "/none"},
                         {"WEBHOOK_SECRET_FILE": self.write("empty", "")}, {"WEBHOOK_TIMEOUT": "soon"}):
            self.hook("webhook", status=2, **settings)


if __name__ == "__main__":
    unittest.main()
