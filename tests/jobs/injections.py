"""What is done to a running job from outside: each takes the run (experiment.Run).

`*_why_not` says why it cannot be done on this machine; None: it can.
"""

import contextlib
import os
import resource
import signal
import threading
import time

import networks
import processes

HERE = os.path.dirname(os.path.realpath(__file__))


def send(number):
    """Sends the signal to the training process."""
    return lambda run: os.kill(run.rank(run.fault.rank).pid(), number)


def nothing(_run):
    """Leaves the job alone."""


def lose_leader_host(run):
    """Kills all that runs on rank 0's host, the coordinator among it; another one starts
    elsewhere, with an empty disk, while the agents of the others still wait."""
    lost = run.rank(0)
    agents = [lost.process.pid] + processes.descendants(lost.process.pid)
    for pid in [run.coordinator_process.pid] + agents + lost.pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.coordinator_process.wait()
    run.start_coordinator()


def restart_job(run):
    """Ends the whole job as a scheduler does, by SIGTERM and then SIGKILL, and starts it again."""
    ended = [
        [rank.process.pid] + processes.descendants(rank.process.pid) + rank.pids()
        for rank in run.ranks
    ]
    for rank in run.ranks:
        os.kill(rank.process.pid, signal.SIGTERM)
    time.sleep(3)
    for pid in {pid for pids in ended for pid in pids}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for rank in run.ranks:
        rank.process.wait()
        run.start_rank(rank)


def kill_those_of_truth(run):
    """Kills all who are to blame, one right after the other."""
    for number in sorted(run.fault.truth.alternatives()[0][1]):
        os.kill(run.rank(number).pid(), signal.SIGKILL)


def stop_briefly(run):
    """Stops the training process for 5 s, as somebody does who looks into it."""
    pid = run.rank(run.fault.rank).pid()
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(5, os.kill, (pid, signal.SIGCONT)).start()


def suspend(run):
    """Stops the training processes of all ranks."""
    for rank in run.ranks:
        os.kill(rank.pid(), signal.SIGSTOP)


def suspend_briefly(run):
    """Stops the training processes of all ranks for 8 s."""
    suspend(run)
    for rank in run.ranks:
        threading.Timer(8, os.kill, (rank.pid(), signal.SIGCONT)).start()


def limit(name, value):
    """Sets a limit of the running process: "fsize" in bytes, "nofile" as a count."""

    def inject(run):
        pid = run.rank(run.fault.rank).pid()
        number = {"fsize": resource.RLIMIT_FSIZE, "nofile": resource.RLIMIT_NOFILE}[name]
        resource.prlimit(pid, number, (value, value))

    return inject


def unplug(run):
    """Takes the network of the rank's host down: its agent is cut off, too."""
    run.network.run(run.rank(run.fault.rank).host, "ip link set eth0 down")


def attach_debugger(run):
    """Attaches a debugger to all threads of the training process, which stand from then on."""
    pid = run.rank(run.fault.rank).pid()
    log = os.path.join(run.folder, "debugger.log")
    processes.start(["/usr/bin/python3", f"{HERE}/debugger.py", str(pid)], log)
    run.wait_for("the debugger has stopped it", lambda: "stopped" in run.text("debugger.log"), 20)


def throttle(run):
    """Lets the training process have a tenth of a core."""
    run.groups.limit_cores([run.rank(run.fault.rank).pid()], share=0.1)


def freeze(run):
    """Freezes the training process with its children."""
    run.groups.freeze(run.rank(run.fault.rank).pids())


def limit_memory(run):
    """Lets the training process have so much more than it has, before the kernel ends it."""
    run.groups.limit_memory([run.rank(run.fault.rank).pid()], beyond_bytes=256 << 20)


def kill_loader(run):
    """Kills the process that reads ahead."""
    os.kill(run.rank(run.fault.rank).loader(), signal.SIGKILL)


def stop_loader(run):
    """Stops the process that reads ahead."""
    os.kill(run.rank(run.fault.rank).loader(), signal.SIGSTOP)


def records(state):
    """Makes the reads of records hang ("gone"), raise ("corrupt") or last now and then ("slow")."""

    def inject(run):
        run.rank(run.fault.rank).write("storage", state)

    return inject


def records_of_all(state):
    """Likewise, of all ranks."""

    def inject(run):
        for rank in run.ranks:
            rank.write("storage", state)

    return inject


def take_port(run):
    """Takes the port of the coordination service before the job does."""
    run.serve_silently(run.rank(0), run.leader_port)


def settings_server(run):
    """Lets the program have a server that never answers."""
    run.settings_server = run.serve_silently(run.rank(run.fault.rank), 7001)


def mount_storage(run):
    """Lets the rank see the checkpoints through a file system of its own."""
    run.mount_storage(run.rank(run.fault.rank))


def stop_storage(run):
    """Stops that file system: whoever uses it waits."""
    run.storage.send_signal(signal.SIGSTOP)


def block_position_file(run):
    """Replaces the file of the input position: to open a FIFO waits for another side."""
    path = os.path.join(run.checkpoints, f"input-{run.fault.rank}.json")
    os.rename(path, path + ".before")
    os.mkfifo(path)


def block_params_file(run):
    """Replaces the checkpoint that rank 0 writes: to open a FIFO waits for another side."""
    path = os.path.join(run.checkpoints, "params.npz")
    os.rename(path, path + ".before")
    os.mkfifo(path)


def fill_disk(run):
    """Lets no write of the input position succeed: the device has no space left."""
    path = os.path.join(run.checkpoints, f"input-{run.fault.rank}.json")
    os.rename(path, path + ".before")
    os.symlink("/dev/full", path)


def silent_resolver(run):
    """Lets the rank ask a name server that never answers."""
    rank = run.rank(run.fault.rank)
    rank.write("resolv.conf", f"nameserver {rank.address}\noptions timeout:30 attempts:5\n")
    run.network.run(rank.host, f"mount --bind {rank.path('resolv.conf')} /etc/resolv.conf")
    run.serve_silently(rank, 53, "udp")


def drop_packets(share, chains=("INPUT", "OUTPUT"), match=""):
    """Drops this share of the packets between the rank and all others that match."""

    def inject(run):
        rank = run.rank(run.fault.rank)
        if share < 1:
            loss = f"-m statistic --mode random --probability {share} "
        else:
            loss = ""
        others = [other for other in run.ranks if other.number != rank.number]
        _drop(run, rank, others, match + loss, chains)

    return inject


def cut_in_halves(run):
    """Drops all packets between those whom the truth names first and all others."""
    one = run.fault.truth.alternatives()[0][1]
    others = [rank for rank in run.ranks if rank.number not in one]
    for number in one:
        _drop(run, run.rank(number), others, "")


def cut_from_service(run):
    """Drops all packets between the rank and the coordination service."""
    rank = run.rank(run.fault.rank)
    _drop(run, rank, [run.rank(0)], f"-p tcp --sport {run.leader_port} ", ("INPUT",))
    _drop(run, rank, [run.rank(0)], f"-p tcp --dport {run.leader_port} ", ("OUTPUT",))


def _drop(run, rank, others, match, chains=("INPUT", "OUTPUT")):
    side = {"INPUT": "-s", "OUTPUT": "-d"}
    run.network.run(
        rank.host,
        " && ".join(
            f"iptables -A {chain} {side[chain]} {other.address} {match}-j DROP"
            for other in others
            for chain in chains
        ),
    )


def iptables_why_not():
    return networks.why_not() or _missing("/usr/sbin/iptables", "iptables")


def fuse_why_not():
    return (
        networks.why_not()
        or _missing("/dev/fuse", None)
        or _missing("/usr/lib/python3/dist-packages/fusepy.py", "python3-fusepy")
    )


def _missing(path, package):
    if os.path.exists(path):
        return None
    return f"{path} is missing" + (f": install {package}" if package else "")
