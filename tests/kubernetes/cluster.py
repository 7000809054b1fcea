"""A real Kubernetes on loopback: etcd, API server, controller manager, scheduler, and kwok for the nodes.

Nodes and pods only pretend: no container runs. Everything lies in one folder and on ports of its own.
"""

import hashlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "examples"))
from parts import Lacking, until  # noqa: E402

MODULES = os.path.join(HERE, "modules")
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


def programs_folder():
    """Where the programs of the pinned versions are kept."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(MODULES):
        folders.sort()
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                digest.update(file.read())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "rapideye", "kubernetes", digest.hexdigest()[:12])


def build(folder):
    done = subprocess.run([os.path.join(MODULES, "build.sh"), folder], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, stdin=subprocess.DEVNULL)
    said = (done.stdout.strip() or "no word").splitlines()
    if done.returncode == 69:
        raise Lacking(said[-1])
    if done.returncode:
        raise AssertionError("\n".join(said[-20:]))


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Answer:
    """How a kubectl ended: status, and both outputs."""

    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.errors = done.stderr


class Cluster:
    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.daemons = []
        for name in PROGRAMS:
            if not os.access(os.path.join(programs, name), os.X_OK):
                raise Lacking(f"{name} was never built (tests/run.sh --long builds it)")
        for name in ("etcd", "kubectl", "openssl"):
            if not shutil.which(name):
                raise Lacking(f"{name} is missing")
        os.makedirs(folder)
        self.tokens = {name: secrets.token_hex(16) for name in ("admin", "manager", "scheduler", "kwok")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def start(self, name, *flags):
        # Debian's etcd cannot serve lists as a watch, and clients that ask for one wait before they ask again.
        environment = {**os.environ, "KUBE_FEATURE_WatchListClient": "false"}
        with open(self.path(f"{os.path.basename(name)}.log"), "wb") as log:
            self.daemons.append(subprocess.Popen([name, *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 env=environment))

    def program(self, name):
        return os.path.join(self.programs, name)

    def up(self):
        """Starts everything; returns when the API server answers and a service account can be had."""
        etcd, peer, self.port = free_port(), free_port(), free_port()
        self.start("etcd", f"--data-dir={self.path('etcd')}", "--unsafe-no-fsync", "--logger=zap",
                   f"--listen-client-urls=http://127.0.0.1:{etcd}",
                   f"--advertise-client-urls=http://127.0.0.1:{etcd}",
                   f"--listen-peer-urls=http://127.0.0.1:{peer}",
                   f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                   f"--initial-cluster=default=http://127.0.0.1:{peer}")
        key = self.path("accounts.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        users = (("admin", "system:masters"), ("manager", "system:masters"),
                 ("scheduler", "system:masters"), ("kwok", "system:masters"))
        tokens = self.write("tokens.csv", "".join(
            f'{self.tokens[name]},{name},{name},"{group}"\n' for name, group in users))
        self.start(self.program("kube-apiserver"), f"--etcd-servers=http://127.0.0.1:{etcd}",
                   "--bind-address=127.0.0.1", f"--secure-port={self.port}", f"--cert-dir={self.path('certificates')}",
                   f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
                   "--service-account-issuer=https://kubernetes.default.svc", f"--token-auth-file={tokens}",
                   "--authorization-mode=Node,RBAC", "--service-cluster-ip-range=10.96.0.0/16")
        until(lambda: os.path.exists(self.path("certificates/apiserver.crt")), "the API server's certificate")
        self.admin = self.kubeconfig("admin", self.tokens["admin"])
        until(lambda: self.ask("get", "--raw=/readyz").status == 0, "the API server")
        self.start(self.program("kube-controller-manager"), "--bind-address=127.0.0.1",
                   f"--secure-port={free_port()}", "--leader-elect=false",
                   # Its pods are "not ready" once a node's lease is late on a busy machine, and kwok, unlike a
                   # kubelet, does not say that they are ready again.
                   "--node-monitor-grace-period=1h",
                   f"--kubeconfig={self.kubeconfig('manager', self.tokens['manager'])}",
                   f"--service-account-private-key-file={key}",
                   f"--root-ca-file={self.path('certificates/apiserver.crt')}")
        self.start(self.program("kube-scheduler"), "--bind-address=127.0.0.1", f"--secure-port={free_port()}",
                   "--leader-elect=false", f"--kubeconfig={self.kubeconfig('scheduler', self.tokens['scheduler'])}")
        self.start(self.program("kwok"), f"--kubeconfig={self.kubeconfig('kwok', self.tokens['kwok'])}",
                   "--manage-all-nodes=true", "--node-lease-duration-seconds=40",
                   f"--server-address=127.0.0.1:{free_port()}", f"--config={self.program('stages.yaml')}")
        until(lambda: self.ask("get", "serviceaccount", "default").status == 0, "a service account")

    def kubeconfig(self, name, token):
        """A file with which `name` speaks to the API server."""
        return self.write(f"{name}.kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": name,
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                   "certificate-authority": self.path("certificates/apiserver.crt")}}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": "c", "user": name}}]}))

    def environment(self, kubeconfig=None):
        return {"PATH": os.environ["PATH"], "HOME": self.folder, "KUBECONFIG": kubeconfig or self.admin}

    def ask(self, *arguments, kubeconfig=None, given=None):
        """What kubectl answers, whatever its exit status."""
        return Answer(subprocess.run(["kubectl", "--request-timeout=30s", *arguments], capture_output=True, text=True,
                                     check=False, input=given if given is not None else "",
                                     env=self.environment(kubeconfig)))

    def kubectl(self, *arguments, **more):
        answer = self.ask(*arguments, **more)
        if answer.status:
            raise AssertionError(f"kubectl {' '.join(arguments)}: status {answer.status}\n{answer.out}{answer.errors}")
        return answer.out

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "--output=json"))

    def until_known(self, *definitions):
        """Returns once the API server takes objects of these custom kinds."""
        def established(name):
            # kubectl wait fails while there are no conditions at all.
            conditions = self.get("customresourcedefinition", name).get("status", {}).get("conditions") or []
            return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)

        until(lambda: all(established(name) for name in definitions), f"{definitions} to be known")

    def add_nodes(self, names, labels, resources):
        nodes = [{"apiVersion": "v1", "kind": "Node",
                  "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
                  "status": {"allocatable": resources, "capacity": resources}} for name in names]
        self.kubectl("create", "--filename=-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
        until(lambda: all(self.is_ready(name) for name in names), "nodes to be ready")

    def is_ready(self, node):
        conditions = self.get("node", node).get("status", {}).get("conditions", [])
        return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)

    def down(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
