#!/usr/bin/python3 -B
"""The remover as it is deployed: its rights are what its hook needs, its default is to do
nothing, and the operator's page knows every rule of the policy."""

import os
import re
import unittest

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def documents(yaml_text):
    return {document["kind"]: document for document in yaml.safe_load_all(yaml_text)}


class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.by_kind = documents(text("deploy", "kubernetes", "remover.yaml"))

    def test_it_may_get_and_patch_nodes_and_nothing_else(self):
        self.assertEqual(set(self.by_kind), {"Namespace", "ServiceAccount", "ClusterRole",
                                             "ClusterRoleBinding", "Deployment",
                                             "ValidatingAdmissionPolicy",
                                             "ValidatingAdmissionPolicyBinding"})
        self.assertEqual(self.by_kind["ClusterRole"]["rules"],
                         [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]}])

    def test_the_rights_are_the_deployments_alone(self):
        account = self.by_kind["ServiceAccount"]["metadata"]
        binding = self.by_kind["ClusterRoleBinding"]
        self.assertEqual(binding["subjects"], [{"kind": "ServiceAccount", **account}])
        self.assertEqual(binding["roleRef"]["name"], self.by_kind["ClusterRole"]["metadata"]["name"])
        deployment = self.by_kind["Deployment"]
        self.assertEqual(deployment["metadata"]["namespace"], account["namespace"])
        pod = deployment["spec"]["template"]["spec"]
        self.assertEqual(pod["serviceAccountName"], account["name"])
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])

    def test_the_policy_binds_that_account_and_denies(self):
        account = self.by_kind["ServiceAccount"]["metadata"]
        policy = self.by_kind["ValidatingAdmissionPolicy"]
        binding = self.by_kind["ValidatingAdmissionPolicyBinding"]["spec"]
        self.assertEqual(binding["policyName"], policy["metadata"]["name"])
        self.assertEqual(binding["validationActions"], ["Deny"])
        conditions = [one["expression"] for one in policy["spec"]["matchConditions"]]
        self.assertEqual(len(conditions), 1)
        self.assertIn(f"system:serviceaccount:{account['namespace']}:{account['name']}", conditions[0])

    def test_it_starts_with_a_dry_run_and_its_secret_is_one(self):
        container = self.by_kind["Deployment"]["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(container["command"], ["rapideye", "remover"])
        environment = {variable["name"]: variable for variable in container["env"]}
        self.assertEqual(environment["RAPIDEYE_REMOVAL"]["value"], "dry-run")
        self.assertIn("secretKeyRef", environment["RAPIDEYE_FLEET_DB"]["valueFrom"])

    def test_it_is_restarted_when_it_stands_not_when_the_history_is_away(self):
        container = self.by_kind["Deployment"]["spec"]["template"]["spec"]["containers"][0]
        port = container["ports"][0]
        environment = {variable["name"]: variable.get("value") for variable in container["env"]}
        self.assertTrue(environment["RAPIDEYE_HTTP"].endswith(f":{port['containerPort']}"))
        self.assertEqual(environment["RAPIDEYE_INSECURE"], "true")
        for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
            self.assertEqual(container[probe]["httpGet"], {"path": path, "port": port["name"]})

    def test_the_hooks_own_page_asks_for_the_same_rights(self):
        shown = [documents(block) for block in
                 re.findall(r"```yaml\n(.*?)```", text("deploy", "hooks", "README.md"), re.DOTALL)]
        roles = [role["ClusterRole"] for role in shown if "ClusterRole" in role]
        self.assertEqual([role["rules"] for role in roles], [self.by_kind["ClusterRole"]["rules"]])


class OperatorsPage(unittest.TestCase):
    RULE = re.compile(r'(?:Watch|Refuse|RefuseForBudget)\(\s*"([a-z-]+)"'
                      r'|Say\(Action::\w+,\s*"([a-z-]+)"|Objection\{\s*"([a-z-]+)"')

    def test_knows_every_rule_of_the_policy(self):
        found = self.RULE.findall(text("coordinator", "removal", "policy", "policy.cc"))
        rules = {name for names in found for name in names if name}
        self.assertGreater(len(rules), 10)
        rows = [line for line in text("deploy", "REMOVAL.md").splitlines() if line.startswith("| `")]
        explained = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])}
        self.assertEqual(rules - explained, set())


if __name__ == "__main__":
    unittest.main()
