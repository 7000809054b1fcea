"""Says which step and phase a training loop is in, for rapideye-agent to read.

    import rapideye_progress as progress

    for number, batch in enumerate(progress.batches(loader)):
        with progress.step(number):
            state = train_step(state, batch)
        if number % 1000 == 0:
            with progress.checkpoint():
                save(state)

The page is the file that RAPIDEYE_PROGRESS_PAGE names, for the agent as well; without
it nothing is done. Nothing here ever raises into the training loop: a page that cannot
be written is said once, to the logger "rapideye_progress". Linux, Python 3.8 or newer,
the standard library alone. The format is that of rapideye_progress.h.
"""

import fcntl
import logging
import operator
import os
import resource
import stat
import struct
import sys
import threading
import time
import weakref

__all__ = ["Page", "batches", "checkpoint", "compile", "devices", "eval", "input_wait", "step"]

# `import rapideye_progress.jax` works wherever the folder of this name lies beside this file,
# and with this file as the folder's __init__.py; this file alone works without.
if "__path__" not in globals():
    __path__ = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "rapideye_progress")]

VARIABLE = "RAPIDEYE_PROGRESS_PAGE"

_MAGIC = int.from_bytes(b"rapideye", "little")
_VERSION = 1
_BYTES = 4096
# The words of the page, of eight bytes; before the first lies what never changes.
_HEADER = struct.Struct("<QII40sQ")
_PID, _START_TICKS, _SEQUENCE, _STEP, _PHASE, _PHASE_SINCE, _INPUT_WAIT_SINCE = range(8, 15)
_DEVICE_COUNT, _MOST_DEVICES = 15, 256

_NONE, _COMPILE, _INPUT, _STEP_PHASE, _CHECKPOINT, _EVAL = range(6)

_logger = logging.getLogger("rapideye_progress")
_pages = weakref.WeakSet()


class Page:
    """The page of one training loop.

    The loop is the thread that last entered a step, and until then the first that
    entered anything. What other threads enter (a loader that reads ahead, a checkpoint
    written in the background) holds up nobody by itself and is not shown. A child made
    by fork does not write its parent's page.
    """

    def __init__(self, path=None):
        """path: the file; None: what RAPIDEYE_PROGRESS_PAGE says when first used."""
        self._path = path
        self._lock = threading.Lock()
        self._tried = False
        self._descriptor = -1
        self._writes = False
        self._sequence = 0
        self._number = -1
        self._complained = False  # of a number
        self._thread = None
        self._entered = []  # (phase, since, wait since), the outermost first
        _pages.add(self)

    def step(self, number):
        """A context: one step of training, with its number (an int)."""
        return _Context(self, _STEP_PHASE, number)

    def input_wait(self):
        """A context: the loop waits for input."""
        return _Context(self, _INPUT)

    def checkpoint(self):
        """A context: the loop writes or reads a checkpoint, and launches nothing."""
        return _Context(self, _CHECKPOINT)

    def eval(self):
        """A context: the loop evaluates."""
        return _Context(self, _EVAL)

    def compile(self):
        """A context: the loop traces or compiles."""
        return _Context(self, _COMPILE)

    def batches(self, loader):
        """An iterator over the loader, each of whose batches is waited for as input."""
        return _Batches(self, iter(loader))

    def devices(self, numbers, slice_numbers=(0, 0)):
        """Says which devices of the job are this process's: [d.id for d in jax.local_devices()].

        By these numbers an agent tells which cores meet at a collective. slice_numbers: all devices
        with numbers from the first to before the second are in this process's slice, and no others
        are; (0, 0): not known.
        """
        try:
            numbers = [operator.index(number) for number in numbers]
            first, end = slice_numbers
            if len(numbers) > _MOST_DEVICES or any(
                not 0 <= operator.index(n) < 2**63 for n in (first, end, *numbers)
            ):
                raise ValueError(f"devices have numbers from 0 on, at most {_MOST_DEVICES} of them")
            with self._lock:
                if not self._tried:
                    self._open()
                if self._writes:
                    self._write_words(_DEVICE_COUNT, len(numbers), first, end, *numbers)
        except (TypeError, ValueError) as error:
            _logger.warning("the numbers of devices are left out: %s", error)
        except Exception as error:  # pylint: disable=broad-except
            self._give_up(error)

    def close(self):
        """Says that nobody writes the page any more. Later contexts do nothing."""
        try:
            with self._lock:
                self._release()
        except Exception as error:  # pylint: disable=broad-except
            self._give_up(error)

    # For contexts ---------------------------------------------------------------

    def _enter(self, phase, number):
        """How deep the context is; None: it is not shown."""
        try:
            with self._lock:
                if not self._tried:
                    self._open()
                if not self._writes or not self._is_loop(phase):
                    return None
                if number is not None:
                    self._number = self._checked(number)
                depth = len(self._entered)
                self._entered.append(self._inside(phase))
                self._show()
                return depth
        except Exception as error:  # pylint: disable=broad-except
            self._give_up(error)
            return None

    def _leave(self, depth):
        try:
            with self._lock:
                if not self._writes or self._thread != threading.get_ident():
                    return
                del self._entered[depth:]
                self._show()
        except Exception as error:  # pylint: disable=broad-except
            self._give_up(error)

    def _is_loop(self, phase):
        me = threading.get_ident()
        if self._thread == me:
            return True
        if self._thread is not None and phase != _STEP_PHASE:
            return False
        self._thread = me
        self._entered.clear()
        return True

    def _checked(self, number):
        try:
            number = operator.index(number)
        except TypeError:
            number = -1
        if 0 <= number < 2**63:
            return number
        if not self._complained:
            self._complained = True
            _logger.warning("the number of a step has to be an int from 0 on; it is left out")
        return -1

    def _inside(self, phase):
        now = time.monotonic_ns()
        if phase != _INPUT:
            return phase, now, 0
        outer, since, _ = self._entered[-1] if self._entered else (_NONE, 0, 0)
        # A wait in an evaluation is still the evaluation's.
        if outer in (_COMPILE, _CHECKPOINT, _EVAL):
            return outer, since, now
        return _INPUT, now, now

    def _show(self):
        phase, since, wait = self._entered[-1] if self._entered else (_NONE, 0, 0)
        self._write_words(_STEP, self._number, phase, since, wait)

    # The file -------------------------------------------------------------------

    def _write_words(self, first, *words):
        # By pwrite: whoever truncates a file that is mapped ends the process (SIGBUS). What
        # stands between an odd sequence and an even one is written as one.
        self._sequence += 2
        self._put(_SEQUENCE, self._sequence - 1)
        self._put(first, *words)
        self._put(_SEQUENCE, self._sequence)

    def _put(self, first, *words):
        os.pwrite(self._descriptor, struct.pack(f"<{len(words)}q", *words), 8 * first)

    def _open(self):
        self._tried = True
        path = self._path if self._path is not None else os.environ.get(VARIABLE)
        if not path:
            return
        if sys.platform != "linux" or sys.byteorder != "little":
            raise OSError("there is no progress page on this platform")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._descriptor = os.open(path, flags, 0o644)
        self._prepare(path)
        self._introduce()
        self._writes = True

    def _prepare(self, path):
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a regular file")
        others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid != os.geteuid() or status.st_nlink != 1 or others:
            raise OSError(f"{path} is another user's, or others may write to it: "
                          "use a directory of your own")
        if 0 <= resource.getrlimit(resource.RLIMIT_FSIZE)[0] < _BYTES:
            raise OSError("files may not be as large as a page (ulimit -f)")
        try:
            # Held until the process ends, however it does; a child does not inherit it.
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OSError(f"another process writes {path}: give each its own page") from error
        if status.st_size == 0:
            os.fchmod(self._descriptor, 0o644)  # the agent may be another user
            os.posix_fallocate(self._descriptor, 0, _BYTES)
            return
        magic = int.from_bytes(os.pread(self._descriptor, 8, 0), "little")
        if status.st_size != _BYTES or magic not in (0, _MAGIC):
            raise OSError(f"{path} is there and is no progress page; it is left as it is")

    def _introduce(self):
        # Even, and beyond what a process before this one has written.
        before = int.from_bytes(os.pread(self._descriptor, 8, 8 * _SEQUENCE), "little")
        self._sequence = (before + 1) & (2**62 - 2)
        try:
            namespace = os.stat("/proc/self/ns/time").st_ino
        except OSError:
            namespace = 0
        boot_id = _first_line("/proc/sys/kernel/random/boot_id").encode()
        # The name before the last parenthesis may hold anything.
        start_ticks = int(_first_line("/proc/self/stat").rpartition(")")[2].split()[19])
        self._put(_SEQUENCE, self._sequence + 1)
        header = _HEADER.pack(_MAGIC, _VERSION, _BYTES, boot_id, namespace)
        os.pwrite(self._descriptor, header, 0)
        self._put(_PID, os.getpid(), start_ticks)
        self._write_words(_STEP, -1, _NONE, 0, 0, 0)  # and no devices of a process before this one

    def _release(self):
        self._tried = True
        descriptor, writes = self._descriptor, self._writes
        self._writes = False
        if writes:
            try:
                self._write_words(_PID, 0)
            except OSError:
                pass  # the file is as good as closed
        self._descriptor = -1
        if descriptor >= 0:
            os.close(descriptor)

    def _give_up(self, error):
        try:
            self._release()
            _logger.warning("no progress page is written: %s", error)
        except Exception:  # pylint: disable=broad-except
            self._writes = False

    def _forked(self):
        # What the parent opened stays the parent's; a lock may have been held.
        self._lock = threading.Lock()
        self._tried = True
        self._writes = False
        self._descriptor = -1


class _Context:
    __slots__ = ("_depth", "_number", "_page", "_phase")

    def __init__(self, page, phase, number=None):
        self._page = page
        self._phase = phase
        self._number = number
        self._depth = None

    def __enter__(self):
        self._depth = self._page._enter(self._phase, self._number)
        return self

    def __exit__(self, *exception):
        if self._depth is not None:
            self._page._leave(self._depth)
        return False


class _Batches:
    """What is not iteration goes to the loader's own iterator."""

    def __init__(self, page, iterator):
        self._page = page
        self._iterator = iterator

    def __iter__(self):
        return self

    def __next__(self):
        with self._page.input_wait():
            return next(self._iterator)

    def __getattr__(self, name):
        return getattr(self._iterator, name)


def _first_line(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.readline().strip()


def _forked():
    for page in list(_pages):
        page._forked()


os.register_at_fork(after_in_child=_forked)

# The page of this process's loop.
_page = Page()
step = _page.step
input_wait = _page.input_wait
checkpoint = _page.checkpoint
eval = _page.eval  # pylint: disable=redefined-builtin
compile = _page.compile  # pylint: disable=redefined-builtin
batches = _page.batches
devices = _page.devices
