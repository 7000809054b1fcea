#!/usr/bin/python3
"""deploy/BESIDE_A_JOB.md, "Plain hosts", command by command on a machine with systemd of its own.

usage: systemd_test.py ROOT BUILD WORK

ROOT is the clone, BUILD what was built of it: it is installed as the document says. Coordinator,
agent and operator share one machine. Skipped where no machine can be booted.
"""

import os
import sys
import unittest

import documents
import machine
import parts

OPTIONS = {}


class PlainHostTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host = OPTIONS["host"]
        cls.blocks = documents.blocks(os.path.join(OPTIONS["root"], "deploy/BESIDE_A_JOB.md"), "## Plain hosts")
        with open(cls.host.path("/etc/hosts"), "a", encoding="utf-8") as hosts:
            hosts.write("127.0.0.1 localhost tpu-0.example\n")
        for block in ("Users and units", "Where the certificates are made", "On the coordinator's host",
                      "On the host of slice 0, task 3"):
            cls.host.shell(cls.blocks[block])

    def status(self):
        """What the operator's command says, once it succeeds."""
        script = self.blocks["Where an operator sits, with ca.crt and operator.* below tls"]
        self.assertIn("\nrapideye status\n", script)
        return self.host.ask("bash", "-euo", "pipefail", "-c", script).stdout

    def until_connected(self):
        return parts.until(lambda: "1 of 8 connected" in (said := self.status()) and said, "an agent at the coordinator")

    def test_coordinator_and_agent_find_each_other(self):
        self.until_connected()
        for unit in ("rapideye-agent", "rapideye-coordinator"):
            self.assertEqual(self.host.show(unit, "ActiveState"), "active")
            self.assertEqual(self.host.show(unit, "NRestarts"), "0", self.host.journal(unit))
            self.assertEqual(self.host.run("systemctl", "is-enabled", unit).strip(), "enabled")

    def test_each_runs_as_a_user_of_its_own_that_reads_its_key_alone(self):
        for unit, own, other in (("rapideye-agent", "agent.key", "coordinator.key"),
                                 ("rapideye-coordinator", "coordinator.key", "agent.key")):
            pid = self.host.show(unit, "MainPID")
            self.assertEqual(self.host.run("ps", "-o", "user:32=", "-p", pid).strip(), unit)
            read_as_unit = ("setpriv", f"--reuid={unit}", f"--regid={unit}", "--clear-groups", "cat")
            self.host.run(*read_as_unit, f"/etc/rapideye/{own}")
            refused = self.host.ask(*read_as_unit, f"/etc/rapideye/{other}")
            self.assertIn("Permission denied", refused.stderr)

    def test_a_daemon_that_dies_is_started_again(self):
        for unit in ("rapideye-coordinator", "rapideye-agent"):
            before = self.host.show(unit, "MainPID")
            self.host.run("kill", "-KILL", before)
            parts.until(lambda u=unit, b=before: self.host.show(u, "MainPID") not in ("0", b), f"another {unit}")
        self.until_connected()
        self.host.run("systemctl", "reset-failed")
        for unit in ("rapideye-coordinator", "rapideye-agent"):
            self.host.run("systemctl", "restart", unit)  # sets its count of restarts to 0

    def test_a_stop_is_no_failure_and_the_state_stays(self):
        self.until_connected()
        for unit, state in (("rapideye-agent", "/var/lib/rapideye-agent"),
                            ("rapideye-coordinator", "/var/lib/rapideye")):
            self.host.run("systemctl", "stop", unit)
            self.assertEqual(self.host.show(unit, "Result"), "success", self.host.journal(unit))
            self.assertEqual(self.host.run("stat", "--format=%U %a", state).strip(), f"{unit} 750")
        self.assertIn("version", self.host.run("ls", "/var/lib/rapideye"))
        self.host.run("systemctl", "start", "rapideye-coordinator", "rapideye-agent")
        self.until_connected()

    def test_the_journal_says_what_is_wrong_with_a_key(self):
        self.host.run("chmod", "0600", "/etc/rapideye/agent.key")
        try:
            self.host.ask("systemctl", "restart", "rapideye-agent")
            parts.until(lambda: "/etc/rapideye/agent.key" in self.host.journal("rapideye-agent"), "the key's name")
        finally:
            self.host.run("chmod", "0640", "/etc/rapideye/agent.key")
        self.until_connected()
        self.host.run("systemctl", "restart", "rapideye-agent")

    def test_with_the_drop_in_it_holds_two_capabilities_more(self):
        def capabilities():
            pid = self.host.show("rapideye-agent", "MainPID")
            status = self.host.run("cat", f"/proc/{pid}/status")
            return int(status.split("CapEff:")[1].split()[0], 16)

        self.assertEqual(capabilities(), 0)
        self.host.shell(self.blocks["To see more of the training process, and the kernel's log"])
        self.until_connected()
        self.assertEqual(capabilities(), 1 << 19 | 1 << 34)  # CAP_SYS_PTRACE and CAP_SYSLOG
        self.host.run("rm", "-r", "/etc/systemd/system/rapideye-agent.service.d")
        self.host.run("systemctl", "daemon-reload")
        self.host.run("systemctl", "restart", "rapideye-agent")

    def test_systemd_finds_nothing_wrong_with_the_units(self):
        folder = "/usr/local/share/rapideye/systemd"
        units = [f"{folder}/rapideye-{name}.service" for name in ("agent", "coordinator", "remover")]
        said = self.host.ask("systemd-analyze", "verify", *units)
        self.assertEqual((said.returncode, said.stdout + said.stderr), (0, ""))
        for unit in units:
            for line in self.host.run("grep", "^Documentation=file:", unit).splitlines():
                self.host.run("test", "-r", line.split("file:")[1])

    def test_the_remover_runs_as_its_unit_says(self):
        folder = "/usr/local/share/rapideye/systemd"
        self.host.run("systemd-sysusers", f"{folder}/rapideye-remover.sysusers")
        self.host.run("install", "-m", "0644", f"{folder}/rapideye-remover.service", "/etc/systemd/system/")
        self.host.write("/etc/rapideye/remover.env",
                        "RAPIDEYE_FLEET_DB=sqlite:/var/lib/rapideye-remover/fleet.db\nRAPIDEYE_FLEET_HOSTS=4096\n")
        os.chmod(self.host.path("/etc/rapideye/remover.env"), 0o600)
        self.host.run("systemctl", "daemon-reload")
        self.host.run("systemctl", "start", "rapideye-remover")
        parts.until(lambda: self.host.ask("test", "-s", "/var/lib/rapideye-remover/fleet.db").returncode == 0,
                      "the remover's history")
        self.assertEqual(self.host.show("rapideye-remover", "ActiveState"), "active")
        self.host.run("systemctl", "stop", "rapideye-remover")
        self.assertEqual(self.host.show("rapideye-remover", "Result"), "success", self.host.journal("rapideye-remover"))


class UninstallTest(unittest.TestCase):
    """Comes after the other, which needs what it removes."""

    def test_nothing_is_left_of_what_ran_but_what_is_named(self):
        host = OPTIONS["host"]
        said = documents.blocks(os.path.join(OPTIONS["root"], "deploy/package/README.md"), "## Upgrade and uninstall")
        units = ("rapideye-agent", "rapideye-coordinator")
        for unit in units:
            self.assertEqual(host.show(unit, "ActiveState"), "active")
        host.shell(said["Uninstall it, as root"])
        for unit in units:
            self.assertEqual((host.show(unit, "LoadState"), host.show(unit, "ActiveState")), ("not-found", "inactive"))
        find = ("find", "/etc", "/usr", "/var", "/opt", "-name", "*rapideye*", "-not", "-path", "/var/lib/systemd/*")
        self.assertEqual(set(host.run(*find, "-prune").split()),
                         {"/etc/rapideye", "/var/lib/rapideye", "/var/lib/rapideye-agent", "/var/lib/rapideye-remover"})
        host.shell(said["Remove settings, keys, state and users, too"])
        self.assertEqual(host.run(*find), "")


def test():
    root, build, work = (os.path.realpath(path) for path in sys.argv[1:4])
    host = machine.Machine(work, "systemd", ["openssl", "procps"])
    try:
        host.install_build(build)
        host.boot()
        OPTIONS.update(root=root, host=host)
        return unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful()
    finally:
        host.end()


if __name__ == "__main__":
    sys.exit(parts.exit_status("machine", test))
