#!/usr/bin/python3 -B
"""deploy/kubernetes against a real Kubernetes (cluster.py), command by command as deploy/BESIDE_A_JOB.md has them.

usage: kubernetes_test.py ROOT WORK [--build]

With --build the programs are built if they are not there; otherwise that skips the test. JobSet's kind
of objects is read from the file that RAPIDEYE_JOBSET_CRD names; JobSet's controller is not run: the test makes
the jobs that it would make.
"""

import copy
import gzip
import json
import os
import shutil
import subprocess
import sys
import unittest

import yaml

import cluster

# Beside the other examples, where cluster has looked for its parts, too.
from documents import blocks
from parts import PATIENCE, exit_status, until

OPTIONS = {}
SECURE = {"runAsNonRoot": True, "runAsUser": 1000, "allowPrivilegeEscalation": False,
          "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
NODES = [f"tpu-{number}" for number in range(6)]
REMOVER = "system:serviceaccount:rapideye:rapideye-remover"


def documents(name):
    with open(os.path.join(OPTIONS["root"], "deploy/kubernetes", name), encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def jobset():
    return next(one for one in documents("jobset.yaml") if one["kind"] == "JobSet")


def job_of_slice(number, secured):
    """The job that JobSet's controller makes of a slice, labels and all."""
    spec = copy.deepcopy(jobset()["spec"]["replicatedJobs"][0]["template"]["spec"])
    labels = {"jobset.sigs.k8s.io/jobset-name": "llama", "jobset.sigs.k8s.io/job-index": str(number),
              "jobset.sigs.k8s.io/restart-attempt": "0"}
    spec["template"].setdefault("metadata", {})["labels"] = labels
    spec["completionMode"] = "Indexed"
    if secured:
        for container in spec["template"]["spec"]["containers"]:
            container["securityContext"] = SECURE
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"llama-slice-{number}", "labels": labels},
            "spec": spec}


class KubernetesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = OPTIONS["cluster"]
        cls.blocks = blocks(os.path.join(OPTIONS["root"], "deploy/BESIDE_A_JOB.md"), "## Kubernetes")
        cls.shell(cls.blocks["The remover, once for the cluster"])
        cls.cluster.kubectl("apply", "--server-side", f"--filename={cls.cluster.program('cert-manager.yaml')}")
        cls.cluster.until_known("certificates.cert-manager.io", "issuers.cert-manager.io")
        template = jobset()["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        cls.cluster.add_nodes(NODES, template["nodeSelector"],
                              {"cpu": "96", "memory": "400Gi", "pods": "110", "google.com/tpu": "4"})
        token = cls.cluster.kubectl("--namespace=rapideye", "create", "token", "rapideye-remover").strip()
        cls.remover = cls.cluster.kubeconfig("remover", token)
        # A policy is enforced once the API server has read it.
        until(lambda: "denied" in cls.patch(NODES[0], {"metadata": {"labels": {"probe": "x"}}}).errors, "the policy")

    @classmethod
    def shell(cls, script):
        """Runs commands as a person types them in the clone; the first that fails ends them."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=OPTIONS["root"], text=True, check=False,
                              env=cls.cluster.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise AssertionError(f"{script}: status {done.returncode}\n{done.stdout}")
        return done.stdout

    @classmethod
    def patch(cls, node, change):
        """What the remover is told when it changes a node so; nothing is changed."""
        return cls.cluster.ask("patch", "node", node, "--dry-run=server", f"--patch={json.dumps(change)}",
                               kubeconfig=cls.remover)

    def namespace(self, name):
        self.cluster.kubectl("create", "namespace", name)
        self.addCleanup(self.cluster.ask, "delete", "namespace", name, "--wait=false")
        self.cluster.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
        until(lambda: self.cluster.ask(f"--namespace={name}", "get", "serviceaccount", "default").status == 0,
              "the namespace's service account")

    def remove_namespace_of_the_documents(self):
        """Another test makes it anew: it has to be gone by then."""
        self.cluster.ask("delete", "namespace", "llama", f"--timeout={PATIENCE}s", "--request-timeout=0")

    def hook(self, node, **settings):
        hook = os.path.join(OPTIONS["root"], "deploy/hooks/kubernetes-cordon")
        with open(os.path.join(OPTIONS["root"], "tests/golden/digest/bad-tpu-chip.json"), encoding="utf-8") as file:
            digest = file.read()
        return subprocess.run([hook], input=digest, capture_output=True, text=True, check=False, env={
            **self.cluster.environment(self.remover), "RAPIDEYE_INCIDENT": "20261003T035420Z-1a2b3c4d",
            "RAPIDEYE_CAUSE": "BAD_TPU_CHIP", "RAPIDEYE_JOB": "llama", "RAPIDEYE_REMOVE_HOSTS": node, **settings})

    def free(self, node):
        """As an operator does when the node was repaired."""
        self.cluster.ask("taint", "nodes", node, "rapideye/bad-hardware-")
        self.cluster.kubectl("uncordon", node)

    def test_the_policy_is_well_typed(self):
        said = self.cluster.get("validatingadmissionpolicy", "rapideye-remover")
        self.assertEqual(said.get("status", {}).get("typeChecking", {}), {})

    def test_the_remover_cordons_and_taints(self):
        node = NODES[0]
        self.addCleanup(self.free, node)
        done = self.hook(node)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        spec = self.cluster.get("node", node)["spec"]
        self.assertTrue(spec["unschedulable"])
        self.assertIn({"key": "rapideye/bad-hardware", "value": "BAD_TPU_CHIP", "effect": "NoSchedule"}, spec["taints"])
        again = self.hook(node)
        self.assertIn("already", again.stdout)

    def test_the_remover_can_do_nothing_else_to_a_node(self):
        node = NODES[1]
        foreign = {"key": "other/maintenance", "value": "x", "effect": "NoSchedule"}
        self.cluster.kubectl("taint", "nodes", node, "other/maintenance=x:NoSchedule")
        self.cluster.kubectl("cordon", node)
        self.addCleanup(self.cluster.ask, "taint", "nodes", node, "other/maintenance-")
        self.addCleanup(self.free, node)
        taints = self.cluster.get("node", node)["spec"]["taints"]
        ours = {"key": "rapideye/bad-hardware", "value": "BAD_TPU_CHIP", "effect": "NoSchedule"}
        self.assertEqual(self.patch(node, {"spec": {"taints": [*taints, ours]}}).status, 0)
        for change, word in (
                ({"metadata": {"labels": {"tenant": "a"}}}, "labels"),
                ({"metadata": {"annotations": {"a": "b"}}}, "annotations"),
                ({"metadata": {"finalizers": ["a.example/b"]}}, "finalizers"),
                ({"spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}}, "addresses"),
                ({"spec": {"providerID": "gce://a"}}, "provider"),
                ({"spec": {"unschedulable": False}}, "uncordon"),
                ({"spec": {"taints": [{"$patch": "delete", **foreign}]}}, "take a taint away"),
                ({"spec": {"taints": [*taints, {**ours, "effect": "NoExecute"}]}}, "add no taint"),
                ({"spec": {"taints": [*taints, {**ours, "key": "mine"}]}}, "add no taint")):
            with self.subTest(change=change):
                refused = self.patch(node, change)
                self.assertEqual(refused.status, 1, refused.out)
                self.assertIn("ValidatingAdmissionPolicy 'rapideye-remover'", refused.errors)
                self.assertIn(word, refused.errors)
        for verb in ("delete", "create", "list"):
            answer = self.cluster.ask("auth", "can-i", verb, "nodes", kubeconfig=self.remover)
            self.assertEqual((answer.status, answer.out.strip()), (1, "no"))

    def test_the_policy_binds_the_remover_alone(self):
        self.cluster.kubectl("label", "node", NODES[2], "tenant=a")
        self.cluster.kubectl("label", "node", NODES[2], "tenant-")

    def test_a_denied_request_is_a_clear_error(self):
        done = self.hook(NODES[3], RAPIDEYE_HOOK_KUBERNETES_EFFECT="NoExecute")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the remover may add no taint but rapideye/bad-hardware", done.stdout + done.stderr)
        self.assertIn(NODES[3], done.stdout + done.stderr)

    def test_the_remover_is_admitted_in_its_namespace(self):
        self.cluster.kubectl("--namespace=rapideye", "create", "secret", "generic", "rapideye-fleet-db",
                             "--from-literal=url=postgresql://rapideye_remover@db.example/fleet")
        done = self.cluster.ask("--namespace=rapideye", "rollout", "status", "deployment/rapideye-remover",
                                f"--timeout={PATIENCE}s", "--request-timeout=0")
        self.assertEqual(done.status, 0, done.out + done.errors + self.cluster.kubectl(
            "--namespace=rapideye", "describe", "pods"))

    def test_after_a_cordon_the_pods_land_elsewhere(self):
        self.namespace("elsewhere")
        self.cluster.kubectl("--namespace=elsewhere", "create", "--filename=-",
                             given=json.dumps(job_of_slice(0, secured=True)))

        def places():
            pods = self.cluster.get("--namespace=elsewhere", "pods")["items"]
            running = [pod for pod in pods if pod["status"]["phase"] == "Running"
                       and "deletionTimestamp" not in pod["metadata"]]
            found = {pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]:
                     (pod["spec"]["nodeName"], pod["metadata"]["name"]) for pod in running}
            return found if len(found) == 4 else None

        before = until(places, "four pods to run")
        bad, pod = before["2"]
        self.addCleanup(self.free, bad)
        done = self.hook(bad)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # As JobSet does when it restarts the job: every pod is made anew.
        self.cluster.kubectl("--namespace=elsewhere", "delete", "job", "llama-slice-0")
        self.cluster.kubectl("--namespace=elsewhere", "create", "--filename=-",
                             given=json.dumps(job_of_slice(0, secured=True)))
        after = until(places, "four pods to run again")
        self.assertNotIn(bad, {node for node, _ in after.values()})
        self.assertNotIn(pod, {name for _, name in after.values()})

    def test_restricted_pod_security_refuses_the_training_container_alone(self):
        self.namespace("restricted")
        template = job_of_slice(0, secured=False)["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "worker", **template["metadata"]},
               "spec": template["spec"]}
        refused = self.cluster.ask("--namespace=restricted", "create", "--filename=-", given=json.dumps(pod))
        self.assertIn('violates PodSecurity "restricted', refused.errors)
        self.assertIn('container "train"', refused.errors)
        self.assertNotIn("rapideye-agent", refused.errors)
        pod["spec"]["containers"][0]["securityContext"] = SECURE
        self.cluster.kubectl("--namespace=restricted", "create", "--filename=-", given=json.dumps(pod))

    def test_the_coordinator_outlives_a_restart_of_the_job(self):
        self.namespace("outlives")
        own = [one for one in documents("jobset.yaml") if one["kind"] != "JobSet"]
        self.assertEqual([one["kind"] for one in own],
                         ["StatefulSet", "Service", "PersistentVolumeClaim", "NetworkPolicy"])
        # No storage is provisioned here; the disk that the claim asks for is there already.
        own.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
                    "spec": {"capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteOnce"],
                             "hostPath": {"path": "/disk"},
                             "claimRef": {"namespace": "outlives", "name": "rapideye-state"}}})
        self.addCleanup(self.cluster.ask, "delete", "persistentvolume", "disk", "--wait=false")
        self.cluster.kubectl("--namespace=outlives", "create", "secret", "generic", "rapideye-coordinator")
        for one in own:
            where = [] if one["kind"] == "PersistentVolume" else ["--namespace=outlives"]
            self.cluster.kubectl(*where, "create", "--filename=-", given=json.dumps(one))

        def coordinator():
            answer = self.cluster.ask("--namespace=outlives", "get", "pod", "llama-rapideye-0", "--output=json")
            pod = json.loads(answer.out) if answer.status == 0 else {"status": {}}
            return pod["status"].get("phase") == "Running" and pod["metadata"]["uid"]

        first = until(coordinator, "the coordinator to run")
        for _ in range(2):
            self.cluster.kubectl("--namespace=outlives", "create", "--filename=-",
                                 given=json.dumps(job_of_slice(0, secured=True)))
            self.cluster.kubectl("--namespace=outlives", "delete", "job", "llama-slice-0")
        self.assertEqual(coordinator(), first)
        # Agents find it by its service's name, which is what its certificate is for.
        slices = until(lambda: [one for one in self.cluster.get("--namespace=outlives", "endpointslices")["items"]
                                if one.get("endpoints")], "the service's addresses")
        self.assertEqual(slices[0]["ports"][0]["port"], 8490)
        self.cluster.kubectl("--namespace=outlives", "delete", "pod", "llama-rapideye-0")
        until(lambda: coordinator() not in (False, first), "another coordinator")

    def test_every_certificate_that_a_pod_mounts_is_asked_for(self):
        self.namespace("certificates")
        said = self.cluster.kubectl("--namespace=certificates", "apply", "--validate=strict",
                                    f"--filename={OPTIONS['root']}/deploy/kubernetes/certificates.yaml")
        names = {one["spec"]["secretName"] for one in documents("certificates.yaml") if one["kind"] == "Certificate"}
        self.assertEqual(said.count("certificate.cert-manager.io/"), len(names))
        text = json.dumps(documents("jobset.yaml"))
        for name in ["rapideye-coordinator", *(f"rapideye-agent-{s}-{t}" for s in range(2) for t in range(4))]:
            self.assertIn(name, names)
            self.assertIn(f'"{name}"', text)

    def test_a_pod_with_the_platforms_word_is_admitted(self):
        self.cluster.kubectl("create", "namespace", "llama")
        self.addCleanup(self.remove_namespace_of_the_documents)
        self.cluster.kubectl("label", "namespace", "llama", "pod-security.kubernetes.io/enforce=restricted")
        self.shell(self.blocks["The agents' rights, once for the namespace of a job"])
        template = job_of_slice(0, secured=True)["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "worker", **template["metadata"]},
               "spec": template["spec"]}
        added = yaml.safe_load(self.blocks["Added to the pod's template in jobset.yaml"])
        merged = self.cluster.kubectl("patch", "--local", "--filename=-", "--output=json", "--type=strategic",
                                      f"--patch={json.dumps({'spec': added})}", given=json.dumps(pod))
        self.cluster.kubectl("--namespace=llama", "create", "--validate=strict", "--filename=-", given=merged)
        spec = self.cluster.get("--namespace=llama", "pod", "worker")["spec"]
        token = [container["name"] for container in spec["initContainers"] + spec["containers"]
                 if any(one["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
                        for one in container["volumeMounts"])]
        self.assertEqual(token, ["rapideye-agent"])
        for allowed, *question in (("yes", "get", "nodes/tpu-0"), ("yes", "list", "events", "--namespace=default"),
                                   ("yes", "list", "events", "--namespace=llama"), ("no", "list", "nodes"),
                                   ("no", "patch", "nodes/tpu-0"), ("no", "get", "secrets", "--namespace=llama"),
                                   ("no", "list", "events", "--namespace=kube-system")):
            answer = self.cluster.ask("auth", "can-i", *question, "--as=system:serviceaccount:llama:rapideye-agent")
            self.assertEqual(answer.out.strip(), allowed, question)

    def know_jobsets(self):
        file = os.environ.get("RAPIDEYE_JOBSET_CRD", "")
        if not os.path.exists(file):
            self.skipTest("RAPIDEYE_JOBSET_CRD names no file with JobSet's CustomResourceDefinition")
        with (gzip.open if file.endswith(".gz") else open)(file, "rt", encoding="utf-8") as opened:
            self.cluster.kubectl("apply", "--server-side", "--filename=-", given=opened.read())
        self.cluster.until_known("jobsets.jobset.x-k8s.io")

    def test_the_jobset_is_accepted(self):
        self.know_jobsets()
        self.addCleanup(self.remove_namespace_of_the_documents)
        self.assertIn("jobset.jobset.x-k8s.io/llama created",
                      self.shell(self.blocks["A job with its coordinator, in a namespace of its own"]))
        wanted = jobset()
        wanted["metadata"]["name"] = "other"
        self.cluster.kubectl("--namespace=llama", "create", "--validate=strict", "--filename=-",
                             given=json.dumps(wanted))
        # A twin that is refused: the kind is really checked.
        wanted["metadata"]["name"] = "wrong"
        wanted["spec"]["failurePolicy"]["maxRestart"] = 3
        refused = self.cluster.ask("--namespace=llama", "create", "--validate=strict", "--filename=-",
                                   given=json.dumps(wanted))
        self.assertIn("maxRestart", refused.errors)

    def test_the_manifest_for_pathways_is_accepted(self):
        self.know_jobsets()
        self.addCleanup(self.remove_namespace_of_the_documents)
        said = self.shell(blocks(os.path.join(OPTIONS["root"], "deploy/PATHWAYS.md"),
                                 "## The client with its coordinator")["In a namespace of its own"])
        for made in ("jobset.jobset.x-k8s.io/llama", "statefulset.apps/llama-rapideye",
                     "certificate.cert-manager.io/rapideye-agent-0-0"):
            self.assertIn(f"{made} created", said)
        self.namespace("pathways")
        self.cluster.kubectl("--namespace=pathways", "create", "--validate=strict",
                             f"--filename={OPTIONS['root']}/deploy/kubernetes/pathways.yaml")


def test():
    root, work = (os.path.realpath(path) for path in sys.argv[1:3])
    folder = os.path.join(work, "cluster")
    shutil.rmtree(folder, ignore_errors=True)
    programs = cluster.programs_folder()
    if "--build" in sys.argv:
        cluster.build(programs)
    started = cluster.Cluster(programs, folder)
    try:
        started.up()
        OPTIONS.update(root=root, cluster=started)
        return unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful()
    finally:
        started.down()


if __name__ == "__main__":
    sys.exit(exit_status("Kubernetes", test))
