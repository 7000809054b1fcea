"""A Debian machine with systemd of its own: a root made by mmdebstrap, booted by systemd-nspawn."""

import hashlib
import os
import shutil
import signal
import subprocess

from parts import PATIENCE, Lacking, run, until

SUITE = "bookworm"


class Machine:
    """A root directory; and once booted, its first process."""

    def __init__(self, work, name, packages):
        self.root = os.path.join(work, name)
        self.console = os.path.join(work, f"{name}.console")
        self.container = None
        self.leader = None
        if os.geteuid() != 0:
            raise Lacking("only root can boot a machine of its own")
        for program in ("systemd-nspawn", "mmdebstrap", "nsenter"):
            if not shutil.which(program):
                raise Lacking(f"{program} is missing")
        os.makedirs(work, exist_ok=True)
        included = ",".join(sorted({"systemd", "systemd-sysv", "dbus", "libstdc++6", *packages}))
        # Made once for a build: what is unpacked from it is changed.
        archive = os.path.join(work, f"{SUITE}-{hashlib.sha256(included.encode()).hexdigest()[:12]}.tar")
        if not os.path.exists(archive):
            made = subprocess.run(
                ["mmdebstrap", "--quiet", "--format=tar", "--variant=minbase", f"--include={included}", SUITE,
                 f"{archive}.new"],
                capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            if made.returncode:
                raise Lacking(f"no root of Debian can be made: {(made.stderr.strip() or 'no word').splitlines()[-1]}")
            os.rename(f"{archive}.new", archive)
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root)
        run(["tar", "--extract", "--numeric-owner", "--file", archive, "--directory", self.root])

    def path(self, inside):
        return os.path.join(self.root, inside.lstrip("/"))

    def write(self, inside, text):
        with open(self.path(inside), "w", encoding="utf-8") as file:
            file.write(text)

    def install_build(self, build):
        """`cmake --install` of a build into /usr/local, and the libraries that Debian packages would bring."""
        run(["cmake", "--install", build, "--prefix", self.path("/usr/local")])
        libraries = self.path("/usr/local/lib")
        os.makedirs(libraries, exist_ok=True)
        for program in ("rapideye", "rapideye-agent", "rapideye-coordinator"):
            for line in run(["ldd", self.path(f"/usr/local/bin/{program}")]).splitlines():
                words = line.split()
                if len(words) > 2 and words[2].startswith("/") and not os.path.exists(self.path(words[2])):
                    shutil.copy(words[2], libraries)
        run(["chroot", self.root, "ldconfig"])

    def boot(self):
        with open(self.console, "wb") as console:
            self.container = subprocess.Popen(
                # Without that capability a drop-in could not give it to a unit.
                ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--private-network",
                 "--capability=CAP_SYSLOG", "--console=pipe", f"--directory={self.root}"],
                stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        self.leader = until(self._first_process, "a first process")
        until(self._is_up, "the machine to be up")

    def _first_process(self):
        if self.container.poll() is not None:
            with open(self.console, encoding="utf-8", errors="replace") as console:
                said = console.read().strip() or "no word"
            raise Lacking(f"systemd-nspawn cannot boot a machine: {said.splitlines()[-1]}")
        pid = self.container.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as children:
            return (children.read().split() or [None])[0]

    def _is_up(self):
        return self.ask("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def ask(self, *command):
        """What a command in the machine answers, whatever its exit status."""
        return subprocess.run(["nsenter", f"--target={self.leader}", "--all", "--wdns=/root", *command],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME": "/root",
                                   "LC_ALL": "C.UTF-8"})

    def run(self, *command):
        done = self.ask(*command)
        if done.returncode:
            raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def shell(self, script):
        """Runs commands as a person types them; the first that fails ends them."""
        return self.run("bash", "-euo", "pipefail", "-c", script)

    def show(self, unit, name):
        return self.run("systemctl", "show", "--value", f"--property={name}", unit).strip()

    def journal(self, unit):
        return self.run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}")

    def end(self):
        if self.container and self.container.poll() is None:
            self.container.send_signal(signal.SIGTERM)  # an orderly power-off
            try:
                self.container.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.container.kill()
                self.container.wait()
        shutil.rmtree(self.root, ignore_errors=True)
