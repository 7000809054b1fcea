"""Gives every host of a job a network of its own: namespaces on one bridge, where root can be had.

A namespace lives as long as the process that holds it, and that ends with this one: nothing has
to be cleaned up. Each has its own mounts and host name, too.
"""

import os
import shutil
import subprocess
import time

import processes

PREFIX = "10.78.0."
# Set: as where none can be had.
LOOPBACK = "RAPIDEYE_JOBS_LOOPBACK"
TOOLS = ("ip", "nsenter", "unshare")
# Holds the namespaces: says that it is ready, then waits for its end.
HOLD = 'mount -t sysfs sysfs /sys; hostname "$0"; echo ready; exec sleep infinity'


def why_not():
    """Why there can be no networks here; None: there can."""
    if os.environ.get(LOOPBACK):
        return "--loopback was asked for"
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in TOOLS:
        if not shutil.which(tool):
            return f"{tool} is missing: install util-linux and iproute2"
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "--uts", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode:
        return f"no network namespace can be made here: {tried.stderr.strip()}"
    return None


class Loopback:
    """All hosts on 127.0.0.1."""

    own = False

    def enter(self, _host):
        return []

    def address(self, _host):
        return "127.0.0.1"


class Networks:
    """A namespace for each host, by name; the first holds the bridge."""

    own = True

    def __init__(self, folder, hosts):
        self._folder = folder
        self._holders = {}
        self._addresses = {host: f"{PREFIX}{number + 1}" for number, host in enumerate(hosts)}
        names = os.path.join(folder, "hosts")
        with open(names, "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines(f"{address} {host}\n" for host, address in self._addresses.items())
        for host in hosts:
            self._hold(host)
        self.run(
            hosts[0],
            "ip link add bridge type bridge && ip link set bridge up && "
            f"ip addr add {self.address(hosts[0])}/24 dev bridge",
        )
        for host in hosts:
            self.run(host, f"mount --bind {names} /etc/hosts && ip link set lo up")
        for number, host in enumerate(hosts[1:]):
            self.run(
                hosts[0],
                f"ip link add port{number} type veth peer name eth0 "
                f"netns {self._holders[host].pid} && "
                f"ip link set port{number} master bridge up",
            )
            self.run(
                host, f"ip addr add {self.address(host)}/24 dev eth0 && " "ip link set eth0 up"
            )

    def enter(self, host):
        spaces = f"/proc/{self._holders[host].pid}/ns"
        return [
            "nsenter",
            f"--net={spaces}/net",
            f"--mount={spaces}/mnt",
            f"--uts={spaces}/uts",
            "--",
        ]

    def address(self, host):
        return self._addresses[host]

    def run(self, host, script):
        """Runs a shell's script on that host."""
        done = subprocess.run(
            self.enter(host) + ["sh", "-c", script], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{host}: {script}: {done.stderr.strip()}")

    def _hold(self, host):
        output = os.path.join(self._folder, f"namespace-{host}")
        self._holders[host] = processes.start(
            ["unshare", "--net", "--mount", "--uts", "sh", "-c", HOLD, host], output
        )
        while True:
            with open(output, encoding="utf-8") as file:
                said = file.read()
            if "ready" in said:
                return
            if self._holders[host].poll() is not None:
                raise RuntimeError(f"no namespace for {host}: {said}")
            time.sleep(0.02)
