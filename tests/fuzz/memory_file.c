/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The system's calls for files that lie in memory: a descriptor from BASE on stands for one, with
 * how much of it has been read.
 */
#include "memory_file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BASE = 1 << 20 };

const char *const memory_file_path[MEMORY_FILES] = {
    "memory:00", "memory:01", "memory:02", "memory:03", "memory:04", "memory:05",
    "memory:06", "memory:07", "memory:08", "memory:09", "memory:10"};

static struct {
    const char *at;
    size_t size, done;
} file[MEMORY_FILES];

int __real_open(const char *path, int how, ...);
int __real_fstat(int fd, struct stat *st);
ssize_t __real_read(int fd, void *to, size_t most);
int __real_close(int fd);
int __wrap_open(const char *path, int how, ...);
int __wrap_fstat(int fd, struct stat *st);
ssize_t __wrap_read(int fd, void *to, size_t most);
int __wrap_close(int fd);

void memory_file_put(int i, const void *data, size_t size)
{
    file[i].at = data;
    file[i].size = size;
}

int __wrap_open(const char *path, int how, ...)
{
    for (int i = 0; i < MEMORY_FILES && path[0] == 'm'; i++) {
        if (strcmp(path, memory_file_path[i]) == 0) {
            file[i].done = 0;
            return BASE + i;
        }
    }
    va_list args;
    va_start(args, how);
    const mode_t mode = how & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return __real_open(path, how, mode);
}

int __wrap_fstat(int fd, struct stat *st)
{
    if (fd < BASE) {
        return __real_fstat(fd, st);
    }
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFREG;
    st->st_size = (off_t)file[fd - BASE].size;
    return 0;
}

ssize_t __wrap_read(int fd, void *to, size_t most)
{
    if (fd < BASE) {
        return __real_read(fd, to, most);
    }
    const size_t left = file[fd - BASE].size - file[fd - BASE].done, n = left < most ? left : most;
    if (n > 0) {
        memcpy(to, file[fd - BASE].at + file[fd - BASE].done, n);
    }
    file[fd - BASE].done += n;
    return (ssize_t)n;
}

int __wrap_close(int fd)
{
    return fd < BASE ? __real_close(fd) : 0;
}
