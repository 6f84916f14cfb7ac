# SPDX-License-Identifier: GPL-3.0-or-later
"""One process of a job of `dlsim perf bench`, a worker or the parameter server: worker.py ROLE.

It takes one JSON command a line and answers one JSON line to each, {"error": ...} if it failed:

    network   -> pid             goes into a network namespace of its own
    join      -> framework       joins the others at an address, workers have the first ranks
    prepare   -> step_s, bytes   builds a network and runs the warm-up; bytes: sent and received each step by
                                 the framework's own count of tensors
    run       -> step_ns         that many steps, when each began, on CLOCK_MONOTONIC, and when the last ended;
                                 profiler: what the framework's own profiler saw of all but the first step
    names     -> names           of all networks
    export    -> parameters      writes the network as ONNX

Exchanges: "one", nobody; "allreduce", DistributedDataParallel; "ps", every gradient is sent to the last
rank when it is there, summed there, and the new parameter is sent back.
"""
import ctypes
import json
import math
import os
import signal
import struct
import sys
import time
import traceback
import warnings

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
SYS_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}.get(os.uname().machine, 314)
LR = 0.001
STEP = "training step"  # the name of one in the profiler's list


class Job:
    """What is prepared: step() is one training step."""

    def __init__(self, net, batch):
        import torch

        self.torch, self.net = torch, net
        self.inputs, self.target = net.example(batch), net.target(batch)
        self.parameters = list(net.module.parameters())
        self.size = sum(p.numel() * p.element_size() for p in self.parameters)
        self.sent = self.received = 0
        self.module = net.module.train()

    def compute(self):
        self.net.loss(self.module(*self.inputs), self.target).backward()

    def step(self):
        self.optimiser.zero_grad()
        self.compute()
        self.optimiser.step()

    def start(self):
        self.optimiser = self.torch.optim.SGD(self.module.parameters(), LR)


class AllReduce(Job):
    """Two workers each send their half of the sum and the half that they have summed, in whatever order."""

    def __init__(self, net, batch, group, workers):
        super().__init__(net, batch)
        from torch.nn.parallel import DistributedDataParallel

        self.module = DistributedDataParallel(net.module, process_group=group, broadcast_buffers=False)
        self.sent = self.received = 2 * (workers - 1) * self.size // workers


def homes(parameters, workers, servers):
    """Rank of the server of each tensor: the one that has the fewest bytes so far."""
    bytes_of, at = [0] * servers, []
    for p in parameters:
        home = bytes_of.index(min(bytes_of))
        bytes_of[home] += p.numel() * p.element_size()
        at.append(workers + home)
    return at


class ToServers(Job):
    def __init__(self, net, batch, workers, servers):
        super().__init__(net, batch)
        self.homes, self.pending = homes(self.parameters, workers, servers), []
        self.sent = self.received = self.size
        self.accumulators = []  # autograd drops those that nobody holds
        for i, p in enumerate(self.parameters):
            node = p.expand_as(p).grad_fn.next_functions[0][0]
            node.register_hook(lambda *_, i=i, p=p: self.push(i, p))
            self.accumulators.append(node)

    def push(self, i, p):
        self.pending.append(self.torch.distributed.isend(p.grad, self.homes[i], tag=i))

    def start(self):
        self.fresh = [self.torch.empty_like(p) for p in self.parameters]

    def step(self):
        dist, self.pending = self.torch.distributed, []
        replies = [dist.irecv(p, self.homes[i], tag=i) for i, p in enumerate(self.fresh)]
        for p in self.parameters:
            p.grad = None
        self.compute()
        for work in self.pending + replies:
            work.wait()
        with self.torch.no_grad():
            for p, new in zip(self.parameters, self.fresh):
                p.copy_(new)


class Server(Job):
    """Holds the tensors whose home it is, by their numbers among all."""

    def __init__(self, net, batch, workers, servers, rank):
        super().__init__(net, batch)
        self.workers = workers
        self.mine = [i for i, home in enumerate(homes(self.parameters, workers, servers)) if home == rank]
        self.sent = self.received = workers * sum(self.parameters[i].numel() * self.parameters[i].element_size()
                                                  for i in self.mine)

    def start(self):
        self.buffers = [{i: self.torch.empty_like(self.parameters[i]) for i in self.mine} for _ in range(self.workers)]

    def step(self):
        dist, sends = self.torch.distributed, []
        got = [{i: dist.irecv(p, w, tag=i) for i, p in self.buffers[w].items()} for w in range(self.workers)]
        with self.torch.no_grad():
            for i in reversed(self.mine):  # about the order of the backward pass
                for w in range(self.workers):
                    got[w][i].wait()
                    self.parameters[i].sub_(self.buffers[w][i], alpha=LR / self.workers)
                sends += [dist.isend(self.parameters[i].data, w, tag=i) for w in range(self.workers)]
        for work in sends:
            work.wait()


def raise_helpers(nice):
    """Threads of the exchange get short turns, and so at once, beside the one that computes: as a network
    card is beside a GPU. A fixed priority for them would not do: while the computing thread holds a lock of
    gloo's, gloo's own thread asks for it again and again and would never let it go on."""
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            # struct sched_attr: size, policy SCHED_OTHER, flags, nice, priority, runtime (the turn, ns), ...
            attr = struct.pack("IIQiIQQQ", 48, 0, 0, nice, 0, 100000, 0, 0)
            ctypes.CDLL(None).syscall(SYS_SCHED_SETATTR, int(thread), attr, 0)  # older kernels have no turns


def profiled(events, workers):
    """Mean length of a step but the first, and bytes of the tensors that were sent and received in one, by their
    shapes. Gloo wakes who waits for an exchange before it ends the exchange's record, so those of the last step may
    be missing when the profiler stops: bytes are of the steps between."""
    began = sorted(e.time_range.start for e in events if e.name == STEP)
    ends = max(e.time_range.end for e in events if e.name == STEP)
    bytes_of = {"gloo:all_reduce": 0, "gloo:send": 0, "gloo:recv": 0}
    for e in events:
        if e.name in bytes_of and began[1] <= e.time_range.start < began[-1]:
            bytes_of[e.name] += 4 * math.prod(e.input_shapes[0])
    n = len(began) - 2
    reduced = 2 * (workers - 1) / workers * bytes_of["gloo:all_reduce"]
    return {"step_s": 1e-6 * (ends - began[1]) / (n + 1), "sent": (reduced + bytes_of["gloo:send"]) / n,
            "received": (reduced + bytes_of["gloo:recv"]) / n}


class Role:
    def __init__(self):
        self.rank = self.nice = 0
        self.job = self.workers = None

    def network(self, _):
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "no network namespace can be made")
        return {"pid": os.getpid()}

    def join(self, c):
        import torch

        self.rank, self.nice = c["rank"], c["nice"]
        torch.set_num_threads(1)
        if c["world"] > 1:
            os.environ["GLOO_SOCKET_IFNAME"] = c["interface"]
            torch.distributed.init_process_group("gloo", init_method=c["address"], rank=self.rank,
                                                 world_size=c["world"])
            self.workers = torch.distributed.new_group([0, 1])
        return {"framework": f"torch {torch.__version__}", "threads": torch.get_num_threads()}

    def prepare(self, c):
        import networks

        self.job = None
        net, exchange, workers = networks.build(c["network"]), c["exchange"], c["workers"]
        if exchange == "one":
            job = Job(net, c["batch"])
        elif exchange == "allreduce":
            job = AllReduce(net, c["batch"], self.workers, workers)
        else:
            place = (net, c["batch"], workers, c["servers"])
            job = ToServers(*place) if self.rank < workers else Server(*place, self.rank)
        job.start()
        self.job = job
        times = self.steps(c["warmup"])
        if self.nice:
            raise_helpers(self.nice)
        last = sorted(b - a for a, b in zip(times[2:], times[3:])) or [times[-1] - times[-2]]
        return {"step_s": 1e-9 * last[len(last) // 2], "sent": job.sent, "received": job.received,
                "parameters": sum(p.numel() for p in job.parameters)}

    def steps(self, n):
        times, step = [time.monotonic_ns()], self.job.step
        for _ in range(n):
            step()
            times.append(time.monotonic_ns())
        return times

    def run(self, c):
        if not c["profiler"]:
            return {"step_ns": self.steps(c["steps"])}
        from torch.profiler import ProfilerActivity, profile, record_function

        step = self.job.step

        def marked():
            with record_function(STEP):
                step()

        self.job.step = marked
        try:
            with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as seen:
                times = self.steps(c["steps"])
        finally:
            del self.job.step
        return {"step_ns": times, "profiler": profiled(seen.events(), c["workers"])}

    def names(self, _):
        import networks

        return {"names": networks.NAMES}

    def export(self, c):
        import networks
        import torch
        from onnx_file import without_weights

        net = networks.build(c["network"])
        inputs = net.example(8)
        names = [f"input_{i}" for i in range(len(inputs))]
        torch.onnx.export(net.module, inputs, c["path"], input_names=names, output_names=["output"],
                          dynamic_axes={name: {0: "batch"} for name in names},
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=True)
        with open(c["path"], "rb") as f:
            whole = f.read()
        with open(c["path"], "wb") as f:
            f.write(without_weights(whole))
        return {"parameters": sum(p.numel() for p in net.module.parameters())}


def main():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    role = Role()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(role, command["do"])(command)
        except ModuleNotFoundError as e:
            answer = {"wrong": f"{sys.executable} has no {e.name}; PyTorch is Debian's python3-torch, or "
                               "$DLSIM_BENCH_PYTHON names a Python that has it"}
        except KeyError as e:
            answer = {"wrong": f"no network {e}; dlsim perf bench list"}
        except Exception as e:  # told, and the next command may do better
            traceback.print_exc()
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
