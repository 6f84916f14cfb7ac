/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A machine whose time passes only while dlsim sleeps, for tests of `dlsim perf record`; loaded with
 * LD_PRELOAD, system calls only. What it samples follows from that time t since the start:
 *
 *   network    3.2 MB/s during the first 0.3 s of each second, on lo, both ways
 *   processor  half of one during the first 0.25 s of each half second, by every process's clock
 *
 * The command that is recorded waits for the FIFO of $FAKE_GO. It is let go at t = 4 s, and then
 * waited for, so that the recording ends there however slow the real machine is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const int64_t start_ns = 1000000000000, length_ns = 4000000000;
static int64_t now_ns = 1000000000000;
static int net = -1;
static int let_go;

static void __attribute__((constructor)) for_this_process_only(void)
{
    unsetenv("LD_PRELOAD");
}

/* Of a rate that is there for the first `on` of every `cycle` nanoseconds. */
static double amount(double rate, int64_t on_ns, int64_t cycle_ns)
{
    const int64_t t = now_ns - start_ns, part = t % cycle_ns;
    return rate * 1e-9 * (double)(t / cycle_ns * on_ns + (part < on_ns ? part : on_ns));
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    int64_t ns = now_ns;
    if (clock < 0) { /* of a process */
        ns = (int64_t)(1e9 * amount(0.5, 250000000, 500000000));
    } else if (clock != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, clock, to);
    }
    *to = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *rest)
{
    now_ns = (int64_t)until->tv_sec * 1000000000 + until->tv_nsec;
    if (now_ns - start_ns >= length_ns && !let_go) {
        const char *fifo = getenv("FAKE_GO");
        close((int)syscall(SYS_openat, AT_FDCWD, fifo ? fifo : "", O_WRONLY | O_CLOEXEC, 0));
        let_go = 1;
    }
    return 0;
}

pid_t waitpid(pid_t pid, int *status, int flags)
{
    return (pid_t)syscall(SYS_wait4, pid, status, let_go ? 0 : flags, NULL);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags,
                                flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0);
    va_end(ap);
    net = strcmp(path, "/proc/net/dev") == 0 ? fd : fd == net ? -1 : net;
    return fd;
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
    if (fd != net || net < 0) {
        return syscall(SYS_pread64, fd, to, size, at);
    }
    char text[256];
    const long long bytes = (long long)amount(3.2e6, 300000000, 1000000000);
    const int n = snprintf(text, sizeof text,
                           "Inter-|   Receive\n face |bytes\n    lo: %lld 9 0 0 0 0 0 0 %lld 9 0 0 "
                           "0 0 0 0\n",
                           bytes, bytes);
    if (at >= n) {
        return 0;
    }
    const size_t left = (size_t)(n - at);
    memcpy(to, text + at, left < size ? left : size);
    return (ssize_t)(left < size ? left : size);
}
