"""Two workers of the testbed's job, without daemons: what their runtimes answer is what counts."""

import subprocess

STEPS = 5  # of training, before anything is asked


class Worker:
    """One process; `runtime` is the address of its status service."""

    def __init__(self, program, slice_index, arguments):
        self._process = subprocess.Popen(
            [program, f"--slice={slice_index}", "--task=0", "--slices=2", "--tasks=1", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = dict(word.split("=") for word in self.await_line("ready ").split()[1:])
        self.runtime = ready["runtime"]
        self.mesh = ready["mesh"]

    def say(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def await_line(self, beginning):
        for line in self._process.stdout:
            if line.startswith("error"):
                raise RuntimeError(line)
            if line.startswith(beginning):
                return line.rstrip("\n")
        raise RuntimeError(f"a worker ended before it said {beginning!r}")

    def cores(self, count):
        """What each core does, by global core id, as the worker itself knows it."""
        self.say("cores")
        cores = {}
        for _ in range(count):
            words = self.await_line("core ").split()
            cores[int(words[1])] = dict(word.split("=") for word in words[2:])
        return cores

    def stop(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


class Job:
    """Stands still: a chip of the second slice has stopped."""

    def __init__(self, program, arguments):
        self.workers = []
        try:
            self._start(program, arguments)
        except BaseException:
            self.stop()
            raise

    def _start(self, program, arguments):
        for slice_index in range(2):
            self.workers.append(Worker(program, slice_index, arguments))
        peers = " ".join(f"{i}.0={worker.mesh}" for i, worker in enumerate(self.workers))
        for worker in self.workers:
            worker.say(f"peers {peers}")
        for worker in self.workers:
            worker.await_line("connected")
        for worker in self.workers:
            worker.say("start")
        for worker in self.workers:
            while int(worker.await_line("step ").split()[1]) < STEPS:
                pass
        self.workers[1].say("fault chip-stop chip=1 where=before")
        self.workers[1].await_line("fault-effective")
        self._await_standstill()

    # The others go on until they wait for the one that has stopped.
    def _await_standstill(self):
        last = None
        while True:
            launches = []
            for worker in self.workers:
                worker.say("progress")
                words = dict(word.split("=") for word in worker.await_line("progress ").split()[1:])
                launches.append((words["launches"], int(words["idle-ms"]) >= 1000))
            if launches == last and all(idle for _, idle in launches):
                return
            last = launches

    def stop(self):
        for worker in self.workers:
            worker.stop()
