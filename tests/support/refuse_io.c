/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * To be preloaded: the call of number REFUSE_AT, from 0, fails among those that put a file on the disk:
 * write, pwrite, ftruncate, fsync, linkat, rename, close. How many there were goes to REFUSE_COUNT, a file.
 * A descriptor whose close fails is closed, as Linux does it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static long at = -1, seen;

__attribute__((constructor)) static void begin(void)
{
    const char *n = getenv("REFUSE_AT");
    at = n ? strtol(n, NULL, 10) : -1;
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("REFUSE_COUNT");
    const long n = seen;
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%ld\n", n);
        fclose(f);
    }
}

static int refused(int why)
{
    if (__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED) != at) {
        return 0;
    }
    errno = why;
    return 1;
}

ssize_t write(int fd, const void *from, size_t n)
{
    return fd > 2 && refused(ENOSPC) ? -1 : syscall(SYS_write, fd, from, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t where)
{
    return refused(ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, from, n, where);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off64_t where)
{
    return refused(ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, from, n, where);
}

int ftruncate(int fd, off_t n)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int ftruncate64(int fd, off64_t n)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int fsync(int fd)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

int rename(const char *from, const char *to)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int close(int fd)
{
    const int status = (int)syscall(SYS_close, fd);
    return refused(EIO) ? -1 : status;
}
