#!/usr/bin/python3
"""What deploy/package.sh makes, used as somebody does who has nothing else.

usage: package_test.py ROOT WORK [--twice]

Everything is made from the clone at ROOT into WORK. The tarball and the Debian packages run on a
root of Debian that has none of our packages; the wheels, in a virtual environment; the image, as
its root. With --twice everything is made once more from a second clone, compiled anew, and must be
the same bytes.
Skipped where there is no root or no archive of Debian packages.
"""

import contextlib
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples"))
import machine  # noqa: E402
from documents import blocks  # noqa: E402
from parts import Lacking, exit_status, run, until  # noqa: E402

SUITE = "trixie"  # another release than that of the build
SAMPLE = "tests/samples/bad-tc.jsonl"
OPTIONS = {}
# py-spy of the image on a program of the image.
READS_A_PROGRAM = """
python3 -c 'import time
def waits_for_good(): time.sleep(600)
waits_for_good()' &
trap "kill $!" EXIT
until /usr/lib/rapideye/libexec/rapideye/py-spy dump --pid $! 2>&1 | grep waits_for_good; do sleep 0.1; done
"""


def make_packages(root, out, **environment):
    with tempfile.TemporaryDirectory() as folder:
        attempt = subprocess.run([os.path.join(root, "deploy/package/py-spy.sh"), folder], check=False)
    if attempt.returncode:
        print("the index of Python packages is out of reach: the packages are made without py-spy")
        environment["RAPIDEYE_PY_SPY"] = "none"
    run([os.path.join(root, "deploy/package.sh"), out], env={**os.environ, **environment})


def make_root(folder):
    """A root without a C++ program or library of ours."""
    if os.geteuid() != 0:
        raise Lacking("only root can make a root file system")
    done = subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=important", "--include=libstdc++6,zstd", SUITE, folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Lacking(f"no root of Debian {SUITE} can be made: {done.stderr.strip().splitlines()[-1]}")


def digests(folder):
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        with open(path, "rb") as file:
            found[os.path.basename(path)] = hashlib.sha256(file.read()).hexdigest()
    return found


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = OPTIONS["root"]
        cls.out = OPTIONS["out"]
        cls.bare = OPTIONS["bare"]
        cls.sample = os.path.join(cls.root, SAMPLE)

    def one(self, pattern):
        found = glob.glob(os.path.join(self.out, pattern))
        self.assertEqual(len(found), 1, f"{pattern}: {os.listdir(self.out)}")
        return found[0]

    def has_py_spy(self):
        """Whether the packages were made where py-spy can be had."""
        with open(self.one("sbom.spdx.json"), encoding="utf-8") as file:
            return any(entry["name"] == "py-spy" for entry in json.load(file)["packages"])

    @contextlib.contextmanager
    def mounted(self, folder):
        """A folder of this machine, at the same place of the bare root."""
        place = self.bare + folder
        os.makedirs(place, exist_ok=True)
        run(["mount", "--bind", folder, place])
        try:
            yield
        finally:
            run(["umount", place])

    def in_bare_root(self, *command, **more):
        with self.mounted("/proc"):  # libraries that lie beside a program are found by way of it
            return run(["chroot", self.bare, *command], **more)

    def unpack(self):
        """The folder of the tarball, as the bare root has it."""
        target = os.path.join(self.bare, "opt")
        run(["tar", "--extract", "--zstd", "--file", self.one("*.tar.zst"), "--directory", target])
        unpacked = glob.glob(os.path.join(target, "rapideye-*"))[0]
        self.addCleanup(shutil.rmtree, unpacked)
        return f"/opt/{os.path.basename(unpacked)}"

    def test_the_tarball_explains_a_real_hang_within_half_a_minute(self):
        """Agents and coordinator are those of the tarball in the bare root; the job that hangs runs beside it."""
        run([os.path.join(self.root, "deploy/build.sh"), "release", "testbed"])
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as mounts:
            # The testbed starts what lies beside it.
            for program in ("testbed", "testbed-worker"):
                shutil.copy(os.path.join(self.root, "build/release/bin", program), folder)
            state = os.path.join(folder, "state")
            os.mkdir(state)
            for shared in ("/proc", state):  # the same path inside and outside
                mounts.enter_context(self.mounted(shared))
            begun = time.monotonic()
            place = self.unpack()
            for program in ("rapideye-agent", "rapideye-coordinator"):
                with open(os.path.join(folder, program), "w", encoding="utf-8") as script:
                    script.write(f'#!/bin/sh\nexec chroot {self.bare} {place}/bin/{program} "$@"\n')
                os.chmod(script.name, 0o755)
            said = run([os.path.join(folder, "testbed"), "--fault=bad-chip", f"--state-dir={state}"])
            seconds = time.monotonic() - begun
            self.assertIn("Potential cause: Bad TPU chips", said)
            self.assertRegex(said, r"(?m)^RIGHT$")
            print(f"from the tarball to the digest of a hang: {seconds:.1f} s")
            self.assertLess(seconds, 30)

    def test_the_tarball_runs_on_a_root_without_our_packages(self):
        shutil.copy(self.sample, os.path.join(self.bare, "capture.jsonl"))
        place = self.unpack()
        self.assertIn("BAD_TPU_CHIP", self.in_bare_root(f"{place}/bin/rapideye", "diagnose", "/capture.jsonl"))
        for program in ("rapideye-agent", "rapideye-coordinator"):
            self.assertIn("--state-dir", self.in_bare_root(f"{place}/bin/{program}", "--help"))
        if self.has_py_spy():
            said = self.in_bare_root("sh", "-c", f"{place}/bin/rapideye doctor || true")
            self.assertIn("eu-stack is not on the path", said)  # nor is py-spy, which came along
            self.assertNotIn("py-spy is not on the path", said)

    def shell(self, script, **variables):
        """A block of a document in the bare root, as root types it there; no systemd runs to start a unit by."""
        self.in_bare_root("bash", "-euo", "pipefail", "-c", script.replace(" --now", ""),
                          env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                               "SYSTEMD_OFFLINE": "1", **variables})

    def files(self):
        """Of the bare root, but for copies of the tables of users that their tools keep."""
        found = run(["find", self.bare, "-xdev", "-mindepth", "1", "-printf", "/%P\\n"]).splitlines()
        return {path for path in found if not (path.startswith("/etc/") and path.endswith("-"))}

    def test_the_tarball_leaves_what_is_named_alone(self):
        said = blocks(os.path.join(self.root, "deploy/package/README.md"), "## The tarball for all of a host")
        plain = blocks(os.path.join(self.root, "deploy/BESIDE_A_JOB.md"), "## Plain hosts")
        said |= blocks(os.path.join(self.root, "deploy/package/README.md"), "## Upgrade and uninstall")
        tarball = shutil.copy(self.one("*.tar.zst"), self.bare)
        self.addCleanup(os.remove, tarball)
        tls = os.path.join(self.bare, "tls")
        run([os.path.join(self.root, "deploy/certificates.sh"), "--workers=2x4", tls, "tpu-0.example"])
        self.addCleanup(shutil.rmtree, tls)
        before = self.files()
        self.shell(said["Install the tarball, as root"])
        self.shell(said["Install the tarball, as root"])  # over itself, as over another version
        for block in ("Users and units", "On the coordinator's host", "On the host of slice 0, task 3",
                      "To see more of the training process, and the kernel's log"):
            self.shell(plain[block])
        self.assertIn("rapideye-agent ", self.in_bare_root("rapideye-agent", "--version"))
        # As the units do when they start.
        for state in ("rapideye", "rapideye-agent"):
            os.mkdir(os.path.join(self.bare, "var/lib", state))
        self.assertGreater(len(self.files() - before), 40)
        self.shell(said["Uninstall it, as root"])
        left = self.files() - before
        kept = {path for path in left if path.startswith(("/etc/rapideye", "/var/lib/rapideye"))}
        self.assertEqual(left - kept, {"/usr/local/share/doc"})
        self.assertIn("/etc/rapideye/agent.key", kept)
        self.shell(said["Remove settings, keys, state and users, too"])
        self.assertEqual(self.files() - before, {"/usr/local/share/doc"})
        for table in ("passwd", "group", "shadow", "gshadow"):
            with open(os.path.join(self.bare, "etc", table), encoding="utf-8") as file:
                self.assertNotIn("rapideye", file.read())

    def test_debian_packages_install_and_leave(self):
        packages = glob.glob(os.path.join(self.out, "*.deb"))
        self.assertEqual(len(packages), 4)
        shutil.copytree(self.out, os.path.join(self.bare, "debs"), dirs_exist_ok=True)
        names = [f"/debs/{os.path.basename(path)}" for path in packages]
        self.in_bare_root("dpkg", "--install", *names)
        shutil.copy(self.sample, os.path.join(self.bare, "capture.jsonl"))
        text = self.in_bare_root("rapideye", "diagnose", "/capture.jsonl")
        self.assertIn("BAD_TPU_CHIP", text)
        for unit in ("agent", "coordinator", "remover"):
            path = os.path.join(self.bare, f"lib/systemd/system/rapideye-{unit}.service")
            if not os.path.exists(path):
                path = os.path.join(self.bare, f"usr/lib/systemd/system/rapideye-{unit}.service")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            command = text.split("ExecStart=")[1].split()[0]
            self.assertTrue(os.path.lexists(os.path.join(self.bare, command.lstrip("/"))), command)
            self.assertNotIn("/usr/local", text)
        self.in_bare_root("dpkg", "--purge", *[os.path.basename(n).split("_")[0] for n in names])
        left = run(["find", self.bare, "-name", "*rapideye*", "-not", "-path", "*/debs/*",
                    "-not", "-path", "*/opt/*", "-not", "-path", "*/proc/*"])
        self.assertEqual([line for line in left.splitlines() if "/var/lib/systemd" not in line], [])

    def test_wheels(self):
        with tempfile.TemporaryDirectory() as folder:
            run(["/usr/bin/python3", "-m", "venv", folder])
            run([f"{folder}/bin/pip", "install", "--no-index", self.one("rapideye-*.whl"),
                 self.one("rapideye_progress-*.whl")])
            text = run([f"{folder}/bin/rapideye", "diagnose", self.sample])
            self.assertIn("BAD_TPU_CHIP", text)
            for test in ("rapideye_progress_test.py", "rapideye_progress_jax_test.py"):
                # A copy: the module beside the original would be found first.
                copy = shutil.copy(os.path.join(self.root, "agent/progress", test), folder)
                run([f"{folder}/bin/python", "-B", copy], cwd=folder)
        with zipfile.ZipFile(self.one("rapideye_progress-*.whl")) as wheel:
            self.assertIn("rapideye_progress/py.typed", wheel.namelist())
            text = wheel.read("rapideye_progress/__init__.py").decode()
            version = os.path.basename(wheel.filename).split("-")[1]
            self.assertIn(f'__version__ = "{version}"', text)

    def test_the_image_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(self.one("*.oci.tar")) as archive:
                archive.extractall(f"{folder}/image")
            with open(f"{folder}/image/index.json", encoding="utf-8") as file:
                tag = json.load(file)["manifests"][0]["annotations"][
                    "org.opencontainers.image.ref.name"
                ]
            run(["umoci", "unpack", "--image", f"{folder}/image:{tag}", f"{folder}/bundle"])
            rootfs = f"{folder}/bundle/rootfs"
            shutil.copy(self.sample, f"{rootfs}/tmp/capture.jsonl")
            with open(f"{folder}/bundle/config.json", encoding="utf-8") as file:
                user = json.load(file)["process"]["user"]
            self.assertEqual((user["uid"], user["gid"]), (8490, 8490))

            def inside(*command):
                return run(["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", f"--root={rootfs}",
                            "--mount-proc", "--setuid=8490", "--setgid=8490", *command], timeout=120)

            self.assertIn("BAD_TPU_CHIP", inside("rapideye", "diagnose", "/tmp/capture.jsonl"))
            inside("rapideye-agent", "--version")
            hooks = [name for name in os.listdir(f"{rootfs}/usr/local/share/rapideye/hooks")
                     if not name.endswith(".py")]
            self.assertIn("webhook", hooks)
            for hook in hooks:  # with what they import of Python
                inside(f"/usr/local/share/rapideye/hooks/{hook}", "--help")
            if self.has_py_spy():
                inside("bash", "-c", READS_A_PROGRAM)

    def test_the_bill_of_materials_lists_every_library(self):
        with open(self.one("sbom.spdx.json"), encoding="utf-8") as file:
            bill = json.load(file)
        listed = {entry["fileName"] for entry in bill["files"]}
        with tempfile.TemporaryDirectory() as folder:
            run(["tar", "--extract", "--zstd", "--file", self.one("*.tar.zst"), "-C", folder])
            top = glob.glob(os.path.join(folder, "*"))[0]
            inside = {f"./lib/{name}" for name in os.listdir(f"{top}/lib")}
            inside |= {f"./bin/{name}" for name in os.listdir(f"{top}/bin")}
            inside |= {f"./libexec/rapideye/{name}" for name in os.listdir(f"{top}/libexec/rapideye")}
        self.assertEqual(listed, inside)
        self.assertGreater(len(bill["packages"]), 20)

    def test_sums(self):
        run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.out)

    def test_a_tag_of_another_version_is_refused(self):
        with tempfile.TemporaryDirectory(dir=OPTIONS["work"]) as folder:
            run(["git", "clone", "--quiet", self.root, f"{folder}/clone"])
            run(["git", "-C", f"{folder}/clone", "tag", "v9.9.9"])
            done = subprocess.run(
                [f"{folder}/clone/deploy/package.sh", f"{folder}/out"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn("v9.9.9", done.stderr)

    def test_made_twice_the_bytes_are_the_same(self):
        if not OPTIONS["twice"]:
            self.skipTest("made twice by --long alone")
        with tempfile.TemporaryDirectory(dir=OPTIONS["work"]) as folder:
            run(["git", "clone", "--quiet", self.root, f"{folder}/elsewhere"])
            # Objects that the cache keeps would be those of the first build.
            make_packages(f"{folder}/elsewhere", f"{folder}/out", CCACHE_RECACHE="1")
            self.assertEqual(digests(f"{folder}/out"), digests(self.out))


class DebianPackagesTest(unittest.TestCase):
    """The packages on a Debian 12 with systemd, as the documents say: installed, upgraded, purged."""

    UNITS = ("rapideye-coordinator", "rapideye-agent")

    def setUp(self):
        try:
            self.host = machine.Machine(OPTIONS["work"], "debs", ["elfutils", "openssl", "procps", "python3"])
            self.addCleanup(self.host.end)
            for path in glob.glob(os.path.join(OPTIONS["out"], "*.deb")):
                shutil.copy(path, self.host.path("/root"))
            with open(self.host.path("/etc/hosts"), "a", encoding="utf-8") as hosts:
                hosts.write("127.0.0.1 localhost tpu-0.example\n")
            self.host.boot()
        except Lacking as lacking:
            self.skipTest(str(lacking))
        deploy = os.path.join(OPTIONS["root"], "deploy")
        self.packages = blocks(f"{deploy}/package/README.md", "## The Debian packages")
        self.packages |= blocks(f"{deploy}/package/README.md", "## Upgrade and uninstall")
        # "The paths below change accordingly."
        self.plain = {name: script.replace("/usr/local/", "/usr/")
                      for name, script in blocks(f"{deploy}/BESIDE_A_JOB.md", "## Plain hosts").items()}

    def apt(self, block):
        return self.host.shell(self.packages[block].replace("apt ", "apt-get --yes --quiet "))

    def pids(self):
        return [self.host.show(unit, "MainPID") for unit in self.UNITS]

    def until_connected(self):
        script = self.plain["Where an operator sits, with ca.crt and operator.* below tls"]
        ask = ("bash", "-euo", "pipefail", "-c", script)
        until(lambda: "1 of 8 connected" in self.host.ask(*ask).stdout, "an agent at the coordinator")

    def test_they_install_upgrade_and_leave_nothing_running(self):
        self.apt("Install all four, as root")
        self.assertEqual(self.pids(), ["0", "0"])  # without settings nothing is started
        failed = self.host.run("systemctl", "--failed", "--no-legend", "--plain", "list-units", "rapideye*")
        self.assertEqual(failed, "")
        for block in ("Where the certificates are made", "On the coordinator's host", "On the host of slice 0, task 3",
                      "To see more of the training process, and the kernel's log"):
            self.host.shell(self.plain[block])
        self.until_connected()
        units = [f"/lib/systemd/system/rapideye-{name}.service" for name in ("agent", "coordinator", "remover")]
        said = self.host.ask("systemd-analyze", "verify", *units)
        self.assertEqual((said.returncode, said.stdout + said.stderr), (0, ""))
        for unit in units:
            for line in self.host.run("grep", "^Documentation=file:", unit).splitlines():
                self.host.run("test", "-r", line.split("file:")[1])

        before = self.pids()
        self.apt("Install all four, as root")  # the same version is there: nothing to do
        self.assertEqual(self.pids(), before)
        self.host.shell("dpkg --install rapideye-*.deb")  # as an upgrade does
        after = self.pids()
        self.assertNotIn("0", after, "a daemon was ended and not started again")
        self.assertFalse(set(before) & set(after), "a daemon of the old package runs on")
        self.until_connected()

        self.apt("Uninstall the packages, as root")
        for unit in self.UNITS:
            self.assertEqual(self.host.show(unit, "ActiveState"), "inactive")
        self.assertEqual(self.host.ask("pgrep", "--list-full", "^rapideye").stdout, "")
        left = self.host.run("find", "/etc", "/usr", "/var", "-name", "*rapideye*", "-prune", "-not", "-path",
                             "/var/lib/systemd/*").split()
        self.assertEqual(set(left), {"/etc/rapideye", "/etc/systemd/system/rapideye-agent.service.d",
                                     "/var/lib/rapideye", "/var/lib/rapideye-agent"})


def test():
    root, work = (os.path.realpath(path) for path in sys.argv[1:3])
    OPTIONS.update(root=root, work=work, twice="--twice" in sys.argv)
    OPTIONS["out"] = os.path.join(work, "packages")
    OPTIONS["bare"] = os.path.join(work, "bare")
    shutil.rmtree(OPTIONS["out"], ignore_errors=True)
    shutil.rmtree(OPTIONS["bare"], ignore_errors=True)
    os.makedirs(work, exist_ok=True)
    make_root(OPTIONS["bare"])
    try:
        make_packages(root, OPTIONS["out"])
        return unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful()
    finally:
        shutil.rmtree(OPTIONS["bare"], ignore_errors=True)


if __name__ == "__main__":
    sys.exit(exit_status("bare root", test))
