#!/usr/bin/python3 -B
"""The rights of an agent that asks Kubernetes: those that its requests need, read out of the code,
for its own service account alone; and the token lies where the agent looks for it."""

import os
import re
import unittest

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ACCOUNT = {"kind": "ServiceAccount", "name": "rapideye-agent", "namespace": "llama"}


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def granted(documents):
    """The rights, each as (verb, resource, namespace; "*": of the cluster), and to whom."""
    roles = {one["metadata"]["name"]: one["rules"] for one in documents if one["kind"] == "ClusterRole"}
    rights, subjects = set(), []
    for one in documents:
        if not one["kind"].endswith("RoleBinding"):
            continue
        namespace = "*" if one["kind"] == "ClusterRoleBinding" else one["metadata"]["namespace"]
        subjects += one["subjects"]
        for rule in roles[one["roleRef"]["name"]]:
            assert rule["apiGroups"] == [""], rule
            rights |= {(verb, resource, namespace) for verb in rule["verbs"] for resource in rule["resources"]}
    return rights, subjects


class PlatformTest(unittest.TestCase):
    def setUp(self):
        self.documents = list(yaml.safe_load_all(text("deploy", "kubernetes", "platform.yaml")))

    def test_the_rights_are_those_that_the_requests_need(self):
        code = text("agent", "sources", "platform", "fetch.cc")
        # The requests of the code; a further one needs a further right here.
        self.assertEqual(re.findall(r'"(/api/v1/[^"?]*)', code),
                         ["/api/v1/nodes/", "/api/v1/namespaces/default/events", "/api/v1/namespaces/"])
        rights, subjects = granted(self.documents)
        self.assertEqual(rights, {("get", "nodes", "*"), ("list", "events", "default"),
                                  ("list", "events", ACCOUNT["namespace"])})
        self.assertEqual(subjects, [ACCOUNT] * 3)

    def test_only_the_agent_has_a_token(self):
        account = next(one for one in self.documents if one["kind"] == "ServiceAccount")
        self.assertEqual(account["metadata"], {"name": ACCOUNT["name"], "namespace": ACCOUNT["namespace"]})
        self.assertIs(account["automountServiceAccountToken"], False)
        jobset = next(yaml.safe_load_all(text("deploy", "kubernetes", "jobset.yaml")))
        pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        self.assertIs(pod["automountServiceAccountToken"], False)

    def test_what_the_document_adds_fits_the_jobset_and_the_agent(self):
        block = re.search(r"```yaml\n(# Added to the pod's template.*?)```", text("deploy", "BESIDE_A_JOB.md"), re.DOTALL)
        added = yaml.safe_load(block.group(1))
        self.assertEqual(added["serviceAccountName"], ACCOUNT["name"])
        jobset = next(yaml.safe_load_all(text("deploy", "kubernetes", "jobset.yaml")))
        pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        agent, = added["initContainers"]
        known = {one["name"]: one for one in pod["initContainers"]}[agent["name"]]
        # The node and the pod that it asks about are known by then.
        self.assertLessEqual({"NODE_NAME", "POD_NAME"}, {variable["name"] for variable in known["env"]})
        volume, = added["volumes"]
        mount, = agent["volumeMounts"]
        self.assertEqual(mount["name"], volume["name"])
        self.assertNotIn(volume["name"], [one["name"] for one in pod["volumes"]])
        self.assertIn(f'"{mount["mountPath"]}"', text("agent", "sources", "fetcher.h"))
        files = set()
        for source in volume["projected"]["sources"]:
            for part in source.values():
                files |= {part["path"]} if "path" in part else {item["path"] for item in part["items"]}
        self.assertEqual(files, {"token", "ca.crt", "namespace"})


if __name__ == "__main__":
    unittest.main()
