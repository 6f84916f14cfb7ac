# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of a job in network namespaces of their own, joined by links of a given rate.

Namespaces have no names: a process makes its own, and the kernel takes it away, with its links and queues,
when the process ends, however it ends. Every process dies with the one that started it.

            worker 0 --eth0-- p0 \\                         every --..-- is a veth pair with a token bucket at
            worker 1 --eth0-- p1 -- hub (this namespace)    both ends, so a rate holds in each direction
            server   --eth0-- p2 /
With a shared uplink the workers are behind a second bridge, "rack", and only the pair between it and the
hub, "up", is limited, beside the server's own.
"""
import ctypes
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLONE_NEWNET = 0x40000000
NICE = -20  # of the job: 88 times the share of a program that asks for nothing
BUCKET_BYTES = 70000  # of a link's token bucket: holds a packet as large as offloading makes them
QUEUE_S = 0.05  # at a link's rate: what waits before it
RATES = re.compile(r"(\d+)(m|g)$")


class Problem(Exception):
    """Something that the user is told in one line."""
    code = 1


class Usage(Problem):
    """What the user asked for is wrong, not what came of it."""
    code = 2


class Death(Problem):
    """A process of the job is gone: all of them are to be started anew."""


def bits_per_second(rate):
    found = RATES.match(rate)
    if not found or not int(found[1]):
        raise Usage(f"rate \"{rate}\": expected a number of megabits or gigabits, as in 200m or 1g")
    return int(found[1]) * (10**6 if found[2] == "m" else 10**9)


def tool(*words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    except FileNotFoundError:
        raise Problem(f"{words[0]} is not installed (Debian: iproute2, util-linux)")
    if done.returncode:
        raise Problem(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def own_namespace():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise Problem("no network namespace can be made: " + os.strerror(ctypes.get_errno())
                      + "; settings with more than one worker need root (CAP_SYS_ADMIN and CAP_NET_ADMIN)")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Process:
    """One worker.py; ask() is answered in turn."""

    def __init__(self, role, python, log, processor, first):
        self.role, self.buffer = role, b""

        def prepare():
            die_with_parent()
            os.sched_setaffinity(0, [processor])
            os.setsid()
            if first:
                os.setpriority(os.PRIO_PROCESS, 0, NICE)
                if os.path.exists("/proc/self/autogroup"):  # then nice counts within a session alone
                    with open("/proc/self/autogroup", "w") as f:
                        f.write(str(NICE))

        env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        try:
            self.child = subprocess.Popen([python, os.path.join(HERE, "worker.py"), role],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                          preexec_fn=prepare, env=env)
        except FileNotFoundError:
            raise Problem(f"{python} is not there")

    def ask(self, **command):
        try:
            self.child.stdin.write(json.dumps(command).encode() + b"\n")
            self.child.stdin.flush()
        except OSError:
            raise Death(f"{self.role} died, exit code {self.child.wait()}")

    def read(self):
        """Its answer; None while that is not whole."""
        more = os.read(self.child.stdout.fileno(), 1 << 16)
        if not more:
            raise Death(f"{self.role} died, exit code {self.child.wait()}")
        self.buffer += more
        if b"\n" not in self.buffer:
            return None
        line, self.buffer = self.buffer.split(b"\n", 1)
        answer = json.loads(line)
        if "wrong" in answer:
            raise Problem(answer["wrong"])
        if "error" in answer:
            raise Death(f"{self.role}: {answer['error']}")
        return answer

    def processor_s(self):
        try:
            clock = ctypes.c_int()
            ctypes.CDLL(None).clock_getcpuclockid(self.child.pid, ctypes.byref(clock))
            return time.clock_gettime(clock.value)
        except OSError:
            return 0.0


def answers(processes, seconds):
    """One of each, in order. The first that is gone ends it: the others may wait for that one."""
    until, said = time.monotonic() + seconds, {}
    while len(said) < len(processes):
        waiting = {p.child.stdout: p for p in processes if p not in said}
        ready, _, _ = select.select(list(waiting), [], [], max(0, until - time.monotonic()))
        if not ready:
            raise Death(f"{next(iter(waiting.values())).role} said nothing for {seconds:.0f} s")
        for p in map(waiting.get, ready):
            answer = p.read()
            if answer is not None:
                said[p] = answer
    return [said[p] for p in processes]


class SoftIrqs:
    """Threads of the kernel that deliver packets would wait behind a computation that goes first.

    They are raised while a fleet lives; a process of its own puts them back when this one is gone.
    """

    def __init__(self):
        pids = tool("pgrep", "-x", "ksoftirqd/.*").split()
        self.keeper = subprocess.Popen(["sh", "-c", f"cat >/dev/null; renice -n 0 {' '.join(pids)} >/dev/null"],
                                       stdin=subprocess.PIPE, start_new_session=True)
        for pid in pids:
            os.setpriority(os.PRIO_PROCESS, int(pid), NICE)

    def close(self):
        self.keeper.stdin.close()
        self.keeper.wait()


class Fleet:
    """roles: names, workers first. Without links there is one worker alone, and nothing needs root."""

    def __init__(self, roles, log, links=True, first=True, processors=None, rack=()):
        self.roles, self.processes, self.irqs, self.log = list(roles), [], None, log
        self.rack = set(rack)
        self.python = os.environ.get("DLSIM_BENCH_PYTHON") or shutil.which("python3", path="/usr/bin:/bin") or sys.executable
        allowed = sorted(os.sched_getaffinity(0))
        self.first = first and os.geteuid() == 0
        try:
            if links:
                own_namespace()
            if self.first and links:
                self.irqs = SoftIrqs()
            for i, role in enumerate(self.roles):
                at = processors[i] if processors else i
                self.processes.append(Process(role, self.python, log, allowed[at % len(allowed)],
                                              self.first))
            if links:
                self.build()
        except BaseException:
            self.close()
            raise

    def build(self):
        self.everyone("network")
        tool("ip", "link", "set", "lo", "up")
        for bridge in ("hub", "rack") if self.rack else ("hub",):
            tool("ip", "link", "add", bridge, "type", "bridge")
            tool("ip", "link", "set", bridge, "up")
        if self.rack:
            tool("ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1")
            for end, bridge in (("up0", "hub"), ("up1", "rack")):
                tool("ip", "link", "set", end, "master", bridge, "up")
        for i, process in enumerate(self.processes):
            pid = str(process.child.pid)
            tool("ip", "link", "add", f"p{i}", "type", "veth", "peer", "name", "eth0", "netns", pid)
            tool("ip", "link", "set", f"p{i}", "master", "rack" if i in self.rack else "hub", "up")
            for words in (("addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth0"), ("link", "set", "eth0", "up"),
                          ("link", "set", "lo", "up")):
                tool("nsenter", "-t", pid, "-n", "ip", *words)

    def limit(self, rate):
        """Bits per second of every link, of the uplink and the others' where there is a rack; None: no limit."""
        for i, process in enumerate(self.processes):
            self.shape(rate if i not in self.rack else None, f"p{i}")
            self.shape(rate if i not in self.rack else None, "eth0", str(process.child.pid))
        for end in ("up0", "up1") if self.rack else ():
            self.shape(rate, end)

    @staticmethod
    def shape(rate, device, pid=None):
        words = ("nsenter", "-t", pid, "-n", "tc") if pid else ("tc",)
        if rate:
            tool(*words, "qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{rate}bit", "burst", str(BUCKET_BYTES),
                 "latency", f"{1000 * QUEUE_S:.0f}ms")
        else:
            tool(*words, "qdisc", "replace", "dev", device, "root", "pfifo", "limit", "1000")

    def join(self, groups=None):
        """groups: [(process numbers, port)], jobs of their own; without, all are one."""
        for members, port in groups or [(range(len(self.processes)), 29500)]:
            for rank, i in enumerate(members):
                self.processes[i].ask(do="join", rank=rank, interface="eth0", world=len(members),
                                      address=f"tcp://10.77.0.{members[0] + 1}:{port}",
                                      nice=NICE if self.first else 0)
        return answers(self.processes, 120)

    def everyone(self, do, processes=None, seconds=120, **what):
        """The same command to all of them, their answers in order."""
        processes = self.processes if processes is None else processes
        try:
            for p in processes:
                p.ask(do=do, **what)
            return answers(processes, seconds)
        except Death as e:  # others lose their connection to who died, and may say so before it is gone
            time.sleep(0.2)
            gone = [p for p in processes if p.child.poll() is not None]
            raise Death(f"{gone[0].role} died, exit code {gone[0].child.returncode}") from e if gone else e

    def close(self):
        for p in self.processes:
            p.child.kill()
            p.child.wait()
        self.processes = []
        if self.irqs:
            self.irqs.close()
            self.irqs = None
