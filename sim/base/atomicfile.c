/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that appear whole: see the header.
 */
#include "base/atomicfile.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void release(dls_atomicfile *f)
{
    DLS_FREE_ALL(f->path, f->part);
    memset(f, 0, sizeof *f);
}

/* Room for part: the folder of path, and the longest name in it. */
static size_t part_bytes(const dls_atomicfile *f)
{
    return strlen(f->path) + NAME_MAX + sizeof "/proc/self/fd/";
}

/* The next name to try: ".NAME.XXXXXX" beside path, NAME shortened if it would be too long. */
static void next_name(dls_atomicfile *f)
{
    const char *slash = strrchr(f->path, '/');
    const char *name = slash ? slash + 1 : f->path;
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) {
        random = (uint32_t)clock() ^ (uint32_t)getpid() << 12;
    }
    snprintf(f->part, part_bytes(f), "%.*s.%.*s.%06x", (int)(name - f->path), f->path, NAME_MAX - 8,
             name, random & 0xffffffU);
}

static int open_part(dls_atomicfile *f)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(f->path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - f->path) + 1 : 1,
             slash ? f->path : ".");
    f->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (f->fd >= 0) {
        snprintf(f->part, part_bytes(f), "/proc/self/fd/%d", f->fd);
        if (access(f->part, W_OK) == 0) {
            return 0;
        }
        close(f->fd); /* no /proc */
    }
    f->named = true;
    do {
        next_name(f);
        f->fd = open(f->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (f->fd < 0 && errno == EEXIST);
    return f->fd < 0 ? errno : 0;
}

dls_status dls_atomicfile_begin(dls_atomicfile *f, const char *path, dls_error *err)
{
    memset(f, 0, sizeof *f);
    /* A link keeps pointing at the file that it names: the rename happens behind it. */
    char target[PATH_MAX];
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && realpath(path, target)) {
        path = target;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return dls_fail(err, DLS_EOUTPUT, path, "is not a regular file");
    }
    f->path = dls_strdup(path);
    f->part = f->path ? dls_alloc(part_bytes(f)) : NULL;
    if (!f->part) {
        release(f);
        return dls_nomem(err, "file name", strlen(path));
    }
    const int why = open_part(f);
    if (why) {
        release(f);
        return dls_fail(err, DLS_EOUTPUT, path, "cannot be created: %s", strerror(why));
    }
    return DLS_OK;
}

/* An unnamed part becomes the file at once where there is none. Where there is one it gets a name of its
 * own first, for rename to take: only that replaces. (Whoever is killed between the two leaves that.) */
static int put_in_place(dls_atomicfile *f)
{
    char unnamed[sizeof "/proc/self/fd/" + 12];
    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", f->fd);
    const char *name = f->path;
    while (!f->named) {
        if (linkat(AT_FDCWD, unnamed, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            if (name == f->path) {
                return 0;
            }
            f->named = true;
        } else if (errno == EEXIST) {
            next_name(f);
            name = f->part;
        } else {
            return errno;
        }
    }
    return rename(f->part, f->path) == 0 ? 0 : errno;
}

/* Make the rename itself last: sync the folder. Some file systems refuse; the data is safe then. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    const int fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

dls_status dls_atomicfile_commit(dls_atomicfile *f, dls_error *err)
{
    const int why = fsync(f->fd) != 0 ? errno : put_in_place(f);
    if (why) {
        const dls_status status =
            dls_fail(err, DLS_EOUTPUT, f->path, "cannot be written: %s", strerror(why));
        dls_atomicfile_abort(f);
        return status;
    }
    sync_folder(f->path);
    close(f->fd);
    release(f);
    return DLS_OK;
}

void dls_atomicfile_abort(dls_atomicfile *f)
{
    if (f->part) {
        if (f->named) {
            unlink(f->part);
        }
        close(f->fd);
        release(f);
    }
}

/* Put and close; to is NULL if it could not be opened. */
static dls_status put_all(FILE *to, const char *path, dls_atomicfile_put_fn put, void *what, dls_error *err)
{
    dls_status status = DLS_OK;
    int why = to ? 0 : errno;
    if (to) {
        status = put(to, what, err);
        errno = 0;
        const bool flushed = fflush(to) == 0; /* says why, if the stream failed before */
        why = !flushed || ferror(to) ? (errno ? errno : EIO) : 0;
        if (fclose(to) != 0 && !why) {
            why = errno;
        }
    }
    return status == DLS_OK && why ? dls_fail(err, DLS_EOUTPUT, path, "cannot be written: %s", strerror(why))
                                   : status;
}

dls_status dls_atomicfile_write(const char *path, dls_atomicfile_put_fn put, void *what,
                                dls_error *err)
{
    dls_atomicfile file;
    DLS_TRY(dls_atomicfile_begin(&file, path, err));
    const dls_status status = put_all(fopen(file.part, "we"), path, put, what, err);
    if (status != DLS_OK) {
        dls_atomicfile_abort(&file);
        return status;
    }
    return dls_atomicfile_commit(&file, err);
}

dls_status dls_atomicfile_stream(const char *path, dls_atomicfile_put_fn put, void *what, dls_error *err)
{
    struct stat info;
    if (strcmp(path, "-") == 0) {
        DLS_TRY(put(stdout, what, err));
        return fflush(stdout) == 0 ? DLS_OK
                                   : dls_fail(err, DLS_EOUTPUT, NULL, "standard output could not be written");
    }
    return stat(path, &info) != 0 || S_ISREG(info.st_mode)
               ? dls_atomicfile_write(path, put, what, err)
               : put_all(fopen(path, "we"), path, put, what, err);
}
