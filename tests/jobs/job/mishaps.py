"""What goes wrong in the host code of training programs, each as programs do it."""

import asyncio
import ctypes
import fcntl
import json
import mmap
import multiprocessing
import os
import queue
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent import futures

from absl import logging


def trim_in_native_code():
    """A function of a C extension that keeps the interpreter's lock, and never returns."""
    ctypes.PyDLL(None).pause()


def upload_by_command():
    """Runs a command of the shell without a time limit."""
    subprocess.run(["sleep", "100000"], check=False)


def tokenize_in_pool():
    """A worker of a pool is killed; the pool starts another one, and the answer never comes."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map(_die, range(1))


def _die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def inspect_batch():
    """A breakpoint that was forgotten: the debugger asks a terminal at which nobody sits."""
    terminal, keyboard = os.pipe()
    sys.stdin = os.fdopen(terminal)
    breakpoint()
    os.close(keyboard)


def resolve_bucket():
    """Asks for the address of a server."""
    return socket.getaddrinfo("bucket.storage.example", 443)


def describe_config():
    """Writes a structure so deep that the stack of the process overflows."""
    deep = []
    for _ in range(1_000_000):
        deep = [deep]
    sys.setrecursionlimit(1 << 30)
    return json.dumps(deep)


def gather_statistics():
    """A task of a pool of one thread waits for another task of the same pool."""
    pool = futures.ThreadPoolExecutor(1)
    return pool.submit(lambda: pool.submit(time.time).result()).result()


def log_to_full_pipe():
    """Writes to a pipe whose reader does not read any more."""
    _unread, writer = os.pipe()
    with os.fdopen(writer, "w", encoding="ascii") as log:
        while True:
            log.write("histogram " * 1000)


def next_packed_batch():
    """Waits for a thread that had to pack the batch, and died of an exception."""
    packed = queue.Queue()

    def pack():
        raise KeyError("document")

    threading.Thread(target=pack, daemon=True).start()
    return packed.get()


def update_vocabulary(folder):
    """Waits for the lock of a file, which a process has that was forgotten."""
    path = os.path.join(folder, "vocabulary.lock")
    owner = subprocess.Popen(  # pylint: disable=consider-using-with
        ["flock", path, "-c", "echo; exec sleep 100000"],
        stdout=subprocess.PIPE,
    )
    owner.stdout.readline()  # by then it has the lock
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def search_divisor():
    """A loop that never finds what it looks for."""
    number = 2
    while number:
        number = number * 3 % 1_000_003


def write_in_pieces(folder, seconds):
    """Writes a large file, slowly."""
    end = time.monotonic() + seconds
    with open(os.path.join(folder, "final.bin"), "wb") as file:
        while time.monotonic() < end:
            file.write(os.urandom(1 << 16))
            file.flush()
            os.fsync(file.fileno())
            time.sleep(0.2)


def wait_for_quota():
    """A hook that sleeps until somebody raises a quota."""
    while True:
        time.sleep(3600)


def confirm_overwrite():
    """Asks a question of a terminal at which nobody sits."""
    terminal, keyboard = os.pipe()
    os.dup2(terminal, 0)
    sys.stdin = os.fdopen(0)
    input("overwrite the export? ")
    os.close(keyboard)


def export_in_child():
    """Forks while a thread holds a lock, which the child has for ever, and waits for the child."""
    lock = threading.Lock()
    lock.acquire()  # pylint: disable=consider-using-with
    child = os.fork()
    if child == 0:
        lock.acquire()  # pylint: disable=consider-using-with
        os._exit(0)
    os.waitpid(child, 0)


def post_metrics(address):
    """Awaits the answer of a server that never answers, in an event loop."""

    async def post():
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"POST metrics\n")
        return await reader.read(1)

    return asyncio.run(post())


def next_streamed_batch(address):
    """Waits for a thread of the program that reads batches from a server that never answers."""
    batches = queue.Queue(maxsize=2)

    def stream():
        with socket.create_connection(address) as connection:
            batches.put(connection.recv(4096))

    threading.Thread(target=stream, name="stream", daemon=True).start()
    return batches.get()


def kill_itself():
    """Is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def start_endless_thread():
    """A thread that is no daemon: the interpreter waits for it at its exit."""
    threading.Thread(target=threading.Event().wait, name="uploader").start()


def convert_in_extension():
    """A thread calls a function of an extension that keeps the interpreter's lock."""
    threading.Thread(target=ctypes.PyDLL(None).pause, daemon=True).start()


def upload_metrics(address):
    """Asks an HTTP server that never answers, without a time limit."""
    with urllib.request.urlopen(f"http://{address[0]}:{address[1]}/metrics") as answer:
        return answer.read()


def record_run(folder):
    """Writes to a database that another connection has locked, for as long as it takes."""
    path = os.path.join(folder, "runs.db")
    other = sqlite3.connect(path)
    other.execute("create table runs (loss real)")
    other.execute("begin exclusive")
    with sqlite3.connect(path, timeout=100_000) as runs:
        runs.execute("insert into runs values (1.0)")


def read_vocabulary(folder):
    """Opens a file that another process has to write first: a pipe with a name."""
    path = os.path.join(folder, "vocabulary")
    os.mkfifo(path)
    with open(path, encoding="ascii") as file:
        return file.read()


def leave_zombie():
    """A child that failed, and for which nobody waits."""
    if os.fork() == 0:
        os._exit(1)


def close_output():
    """Closes its output and goes on, as a program does that becomes a daemon."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(nothing, output)


def read_truncated_index(folder="/tmp"):
    """Reads from memory of a file that another program has shortened meanwhile."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.truncate(1 << 20)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as index:
            file.truncate(0)
            return index[1 << 19]


def check_loss():
    """Ends the program as absl does where a check fails."""
    logging.use_absl_handler()
    logging.fatal("Check failed: loss is not finite")


def print_to_stopped_reader():
    """Prints into a pipe of a command that is stopped, as `program | tee log` does."""
    reader = subprocess.Popen(  # pylint: disable=consider-using-with
        ["tee", os.devnull], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    reader.send_signal(signal.SIGSTOP)
    os.dup2(reader.stdin.fileno(), 1)
    while True:
        print("histogram of gradients " * 40, flush=True)


def lock_cache_by_polling(folder="/tmp"):
    """Tries again and again to lock a file that a process has which was forgotten."""
    path = os.path.join(folder, f"cache-{os.getpid()}.lock")
    owner = subprocess.Popen(  # pylint: disable=consider-using-with
        ["flock", path, "-c", "echo; exec sleep 100000"],
        stdout=subprocess.PIPE,
    )
    owner.stdout.readline()  # by then it has the lock
    with open(path, "w", encoding="ascii") as file:
        os.unlink(path)
        while True:
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)


def record_to_dead_writer():
    """Puts into a queue of limited length, whose consumer has ended."""
    written = queue.Queue(maxsize=8)
    consumer = threading.Thread(target=written.get, name="writer", daemon=True)
    consumer.start()
    while True:
        written.put({"loss": 1.0})


def look_for_stop_file(folder):
    """Looks whether somebody has left a file in a folder of a file system that hangs."""
    return os.path.exists(os.path.join(folder, "STOP"))


def fetch_after_outage(settings, seconds):
    """Asks a server that is gone, until it has waited long enough and goes on with what it has."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with socket.create_connection(settings.address, timeout=1):
                return
        except OSError as error:
            logging.warning("Retrying after %s: settings server not reachable", error)
            time.sleep(0.5)


def log_caught_error(number):
    """An error that the program knows, logs with its traceback, and survives."""
    try:
        raise ConnectionResetError(104, "Connection reset by peer")
    except ConnectionResetError:
        logging.exception("upload of histogram %d failed, skipped", number)


class Report:
    """Numbers of the run, which SIGUSR1 prints."""

    def __init__(self):
        self._lock = threading.Lock()
        signal.signal(signal.SIGUSR1, self._print)

    def count(self):
        """A signal that comes while the lock is held waits for it in the thread that holds it."""
        with self._lock:
            os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.01)

    def _print(self, _number, _frame):
        with self._lock:
            print("report")


MISHAPS = {
    "native-code": trim_in_native_code,
    "command": upload_by_command,
    "pool-worker": tokenize_in_pool,
    "breakpoint": inspect_batch,
    "resolver": resolve_bucket,
    "stack-overflow": describe_config,
    "thread-pool": gather_statistics,
    "full-pipe": log_to_full_pipe,
    "dead-thread": next_packed_batch,
    "endless-loop": search_divisor,
    "signal-handler": lambda: Report().count(),
    "exit-3": lambda: os._exit(3),
    "sleeping-hook": wait_for_quota,
    "prompt": confirm_overwrite,
    "forked-child": export_in_child,
    "lock-in-extension": convert_in_extension,
    "zombie-child": leave_zombie,
    "output-closed": close_output,
    "truncated-index": read_truncated_index,
    "check-fails": check_loss,
    "stopped-reader": print_to_stopped_reader,
    "polled-lock": lock_cache_by_polling,
    "dead-writer": record_to_dead_writer,
}
