#!/usr/bin/python3 -B
"""The Kubernetes hooks: a real kubectl against a small API server that keeps nodes and
pods, and notes every request that would change one."""

import http.server
import json
import shutil
import threading
import unittest

from hook_case import CULPRIT, HookCase, skip_all

RESOURCES = {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
    {"name": "nodes", "singularName": "node", "namespaced": False, "kind": "Node",
     "verbs": ["get", "list", "patch"], "shortNames": ["no"]},
    {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod",
     "verbs": ["get", "list", "delete"], "shortNames": ["po"]}]}
PODS = "/api/v1/namespaces/training/pods"


class ApiServer(http.server.ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.nodes = {name: {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}}
                      for name in (CULPRIT, "other")}
        self.pods = {}
        self.changes = []  # (method, path, body)
        self.refuse = False
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, reason):
        self.answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
                     "message": f"{self.path}: {reason}", "code": status}, status)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        name = path.rsplit("/", 1)[-1]
        fixed = {"/version": {"major": "1", "minor": "30", "gitVersion": "v1.30.0"},
                 "/api": {"kind": "APIVersions", "versions": ["v1"]},
                 "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
                 "/api/v1": RESOURCES}
        if path in fixed:
            self.answer(fixed[path])
        elif path.startswith("/api/v1/nodes/") and name in self.server.nodes:
            self.answer(self.server.nodes[name])
        elif path == PODS and "labelSelector=jobset.sigs.k8s.io%2Fjobset-name%3Dllama" in query:
            self.answer({"kind": "PodList", "apiVersion": "v1", "metadata": {},
                         "items": list(self.server.pods.values())})
        elif path.startswith(PODS + "/") and name in self.server.pods:
            self.answer(self.server.pods[name])
        else:
            self.refuse(404, "NotFound")

    def change(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or "{}")
        self.server.changes.append((self.command, self.path.partition("?")[0], body))
        return body

    def do_PATCH(self):
        name = self.path.partition("?")[0].rsplit("/", 1)[-1]
        body = self.change()
        if self.server.refuse:
            self.refuse(403, "Forbidden")
            return
        spec = {k: v for k, v in body.get("spec", {}).items() if not k.startswith("$")}
        self.server.nodes[name]["spec"].update(spec)
        self.answer(self.server.nodes[name])

    def do_DELETE(self):
        name = self.path.partition("?")[0].rsplit("/", 1)[-1]
        self.change()
        self.answer(self.server.pods.pop(name))

    def log_message(self, *_):
        pass


class Kubernetes(HookCase):
    def setUp(self):
        super().setUp()
        self.server = ApiServer()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.environment["KUBECONFIG"] = self.write("config", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "c",
                          "cluster": {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}]}))

    def test_taints_and_cordons_once(self):
        self.assertEqual(self.hook("kubernetes-cordon", remove=[CULPRIT]),
                         f"{CULPRIT}: tainted and cordoned\n")
        spec = self.server.nodes[CULPRIT]["spec"]
        self.assertEqual(spec["taints"], [{"effect": "NoSchedule", "key": "rapideye/bad-hardware",
                                           "value": "BAD_TPU_CHIP"}])
        self.assertIs(spec["unschedulable"], True)
        self.assertEqual([change[:2] for change in self.server.changes],
                         [("PATCH", f"/api/v1/nodes/{CULPRIT}")] * 2)

        said = self.hook("kubernetes-cordon", remove=[CULPRIT], incident="20261004T000000Z-00000002")
        self.assertEqual(said, f"{CULPRIT}: tainted and cordoned already\n")
        self.assertEqual(len(self.server.changes), 2)
        self.assertEqual(self.server.nodes["other"]["spec"], {})

    def test_what_others_said_of_the_node_stays(self):
        taint = {"effect": "NoSchedule", "key": "google.com/tpu", "value": "present"}
        self.server.nodes[CULPRIT]["spec"] = {"taints": [taint], "unschedulable": True}
        said = self.hook("kubernetes-cordon", remove=[CULPRIT], KUBERNETES_TAINT="ours/bad",
                         KUBERNETES_EFFECT="NoExecute")
        self.assertEqual(said, f"{CULPRIT}: tainted\n")
        self.assertEqual(
            sorted(self.server.nodes[CULPRIT]["spec"]["taints"], key=lambda t: t["key"]),
            [taint, {"effect": "NoExecute", "key": "ours/bad", "value": "BAD_TPU_CHIP"}])

    def test_a_refusal_fails_and_the_other_nodes_are_removed_all_the_same(self):
        said = self.hook("kubernetes-cordon", remove=["gone", CULPRIT], status=1)
        self.assertIn("gone", said)
        self.assertIs(self.server.nodes[CULPRIT]["spec"]["unschedulable"], True)
        self.server.refuse = True
        self.assertIn("orbidden", self.hook("kubernetes-cordon", remove=["other"], status=1))
        self.hook("kubernetes-cordon", remove=["other"], status=2, KUBERNETES_EFFECT="Never")

    def test_restarts_a_jobset_once_for_an_incident(self):
        self.incident_on_disk()
        self.digest["job"] = "llama"
        for name, made in (("llama-0", "2026-10-03T01:00:00Z"), ("llama-1", "2026-10-03T05:00:00Z")):
            self.server.pods[name] = {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "namespace": "training", "creationTimestamp": made}}
        settings = {"RESTART": "jobset", "RESTART_NAMESPACE": "training"}
        self.assertEqual(self.hook("restart-job", **settings), "JobSet llama: 1 pods deleted\n")
        self.assertEqual(list(self.server.pods), ["llama-1"])
        self.assertIn("none of its 1 pods", self.hook("restart-job", **settings))
        self.assertEqual([change[:2] for change in self.server.changes],
                         [("DELETE", f"{PODS}/llama-0")])


if __name__ == "__main__":
    if not shutil.which("kubectl"):
        skip_all("kubectl is not installed (deploy/install-dependencies.sh test)")
    unittest.main()
