/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/atomicfile.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(dls_atomicfile *f)
{
    dls_free(f->path);
    dls_free(f->part);
    memset(f, 0, sizeof *f);
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
    const size_t len = strlen(path);
    f->path = dls_strdup(path);
    f->part = dls_alloc(len + sizeof ".part");
    if (!f->path || !f->part) {
        release(f);
        return dls_nomem(err, "file name", len);
    }
    snprintf(f->part, len + sizeof ".part", "%s.part", path);
    const int fd = open(f->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        const int why = errno;
        release(f);
        return dls_fail(err, DLS_EOUTPUT, path, "cannot be created: %s", strerror(why));
    }
    close(fd);
    return DLS_OK;
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
    const int fd = open(f->part, O_RDONLY | O_CLOEXEC);
    int why = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0 && close(fd) != 0 && !why) {
        why = errno;
    }
    if (!why && rename(f->part, f->path) != 0) {
        why = errno;
    }
    if (why) {
        const dls_status status =
            dls_fail(err, DLS_EOUTPUT, f->path, "cannot be written: %s", strerror(why));
        dls_atomicfile_abort(f);
        return status;
    }
    sync_folder(f->path);
    release(f);
    return DLS_OK;
}

void dls_atomicfile_abort(dls_atomicfile *f)
{
    if (f->part) {
        unlink(f->part);
        release(f);
    }
}

dls_status dls_atomicfile_write(const char *path, dls_atomicfile_put_fn put, void *what,
                                dls_error *err)
{
    dls_atomicfile file;
    DLS_TRY(dls_atomicfile_begin(&file, path, err));
    FILE *to = fopen(file.part, "we");
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
    if (status == DLS_OK && why) {
        status = dls_fail(err, DLS_EOUTPUT, path, "cannot be written: %s", strerror(why));
    }
    if (status != DLS_OK) {
        dls_atomicfile_abort(&file);
        return status;
    }
    return dls_atomicfile_commit(&file, err);
}
