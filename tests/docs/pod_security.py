#!/usr/bin/python3
"""The containers of the example manifests pass Kubernetes' restricted Pod Security Standard.

usage: pod_security.py MANIFEST...

Judges what a manifest says, of containers that run a program of this project; a training
container is its owner's.
"""

import sys

import yaml

PROGRAMS = ("rapideye", "rapideye-agent", "rapideye-coordinator")
VOLUMES = ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret")


def pods(node):
    """Every pod's spec in a document: whatever has containers."""
    if isinstance(node, dict):
        if "containers" in node:
            yield node
        for child in node.values():
            yield from pods(child)
    elif isinstance(node, list):
        for child in node:
            yield from pods(child)


def violations(pod):
    """Where the project's containers of a pod break the standard."""
    ours = [c for c in pod.get("initContainers", []) + pod["containers"] if c.get("command", [""])[0] in PROGRAMS]
    if not ours:
        return
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(field):
            yield f"{field} is set"
    for volume in pod.get("volumes", []):
        if not any(kind in volume for kind in VOLUMES):
            yield f"volume {volume['name']} is of a kind that is not allowed"
    for container in ours:
        own = container.get("securityContext", {})
        context = {**pod.get("securityContext", {}), **own}
        wanted = {
            "allowPrivilegeEscalation is not false": own.get("allowPrivilegeEscalation") is False,
            "runAsNonRoot is not true": context.get("runAsNonRoot") is True,
            "runAsUser is root": context.get("runAsUser") != 0,
            "not all capabilities are dropped": own.get("capabilities", {}).get("drop") == ["ALL"],
            "capabilities are added": not own.get("capabilities", {}).get("add"),
            "seccompProfile is not RuntimeDefault": context.get("seccompProfile", {}).get("type") == "RuntimeDefault",
            "privileged": not own.get("privileged"),
        }
        for problem, kept in wanted.items():
            if not kept:
                yield f"container {container['name']}: {problem}"


def main():
    found = []
    seen = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for document in yaml.safe_load_all(file):
                for pod in pods(document):
                    seen += 1
                    found += [f"{path}: {problem}" for problem in violations(pod)]
    # Of none of it a container that says nothing would pass.
    bare = {"containers": [{"name": "x", "command": ["rapideye-agent"]}], "hostPID": True}
    assert len(list(violations(bare))) == 5, list(violations(bare))
    print("\n".join(found) or f"{seen} pods pass")
    return 1 if found or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
