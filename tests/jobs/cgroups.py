"""Control groups of one run (version 2, or 1): the freezer, and a limit of memory."""

import contextlib
import os
import signal
import time

_V2 = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def _version_2():
    return next((root for root in _V2 if os.path.exists(f"{root}/cgroup.controllers")), None)


def freezer_why_not():
    if not os.access(_version_2() or "/sys/fs/cgroup/freezer", os.W_OK):
        return "no control group can be made here to freeze a process"
    return None


def memory_why_not():
    if not os.access(_memory_root() or "/none", os.W_OK):
        return "no control group can be made here to limit memory"
    return None


def cores_why_not():
    if not os.access(_cores_root() or "/none", os.W_OK):
        return "no control group can be made here to limit the time of a process"
    return None


def _memory_root():
    return _root_of("memory")


def _cores_root():
    return _root_of("cpu")


def _root_of(controller):
    if os.path.isdir(f"/sys/fs/cgroup/{controller}"):
        return f"/sys/fs/cgroup/{controller}"
    root = _version_2()
    if root:
        with open(f"{root}/cgroup.subtree_control", encoding="ascii") as file:
            if controller in file.read().split():
                return root
    return None


class Groups:
    """Makes groups, and removes them when it is closed."""

    def __init__(self):
        self._made = []

    def freeze(self, pids):
        root = _version_2()
        if root:
            group = self._make(root)
            self._thaw = (f"{group}/cgroup.freeze", 0)
            state, frozen = f"{group}/cgroup.freeze", 1
        else:
            group = self._make("/sys/fs/cgroup/freezer")
            self._thaw = (f"{group}/freezer.state", "THAWED")
            state, frozen = f"{group}/freezer.state", "FROZEN"
        self._add(group, pids)
        _write(state, frozen)

    def limit_memory(self, pids, beyond_bytes):
        """The processes may take so many bytes more than they have now."""
        root = _memory_root()
        group = self._make(root)
        one = root.endswith("/memory")
        name = "memory.limit_in_bytes" if one else "memory.max"
        # What a process had before it came counts where it was.
        _write(f"{group}/{name}", beyond_bytes)
        if not one:
            _write(f"{group}/memory.swap.max", 0)
        self._add(group, pids)

    def limit_cores(self, pids, share):
        """The processes may take so many cores together."""
        root = _cores_root()
        group = self._make(root)
        if root.endswith("/cpu"):
            _write(f"{group}/cpu.cfs_quota_us", int(share * 100_000))
        else:
            _write(f"{group}/cpu.max", f"{int(share * 100_000)} 100000")
        self._add(group, pids)

    def thaw(self):
        if hasattr(self, "_thaw"):
            with contextlib.suppress(OSError):
                _write(*self._thaw)

    def close(self):
        """Ends what is in the groups, and removes them."""
        self.thaw()
        for group in self._made:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    os.rmdir(group)
                    break
                self._kill(group)
                time.sleep(0.05)
        self._made = []

    def _make(self, root):
        group = f"{root}/rapideye-job-{os.getpid()}-{len(self._made)}"
        os.mkdir(group)
        self._made.append(group)
        return group

    @staticmethod
    def _add(group, pids):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                _write(f"{group}/cgroup.procs", pid)

    @staticmethod
    def _kill(group):
        with contextlib.suppress(OSError):
            with open(f"{group}/cgroup.procs", encoding="ascii") as file:
                for pid in file.read().split():
                    os.kill(int(pid), signal.SIGKILL)
