/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * To be preloaded: the call of number REFUSE_AT, from 0, fails among those that put a file on the disk:
 * write, pwrite, ftruncate, fsync, linkat, rename, close.
 * A descriptor whose close fails is closed, as Linux does it.
 */
#define _GNU_SOURCE
#include "refuse_call.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
    refuse_begin();
}

static int refused(int why)
{
    if (!refuse_this()) {
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
