/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The folder of a sweep: names, locks, states, what crashed writers left.
 */
#include "sweep/store.h"

#include "base/folder.h"
#include "base/guard.h"
#include "base/own.h"
#include "results/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4200

dls_status dls_sweep_store_open(const char *folder, dls_error *err)
{
    char path[PATH_BYTES];
    if (*folder == '\0' || strlen(folder) > 4000) {
        return dls_fail(err, DLS_EOUTPUT, NULL, "the name of the folder is empty or too long");
    }
    snprintf(path, sizeof path, "%s/points", folder);
    DLS_TRY(dls_folder_make(path, err));
    if (access(path, W_OK | X_OK) != 0) {
        return dls_fail(err, DLS_EOUTPUT, path, "cannot be written: %s", strerror(errno));
    }
    return DLS_OK;
}

const char *dls_sweep_store_path(const char *folder, const char *id, const char *ext, char *buf,
                                 size_t n)
{
    snprintf(buf, n, "%s/points/%.2s/%s%s", folder, id, id, ext);
    return buf;
}

bool dls_sweep_finished(const char *folder, const char *id)
{
    DLS_HDF5_LOCKED;
    char path[PATH_BYTES];
    DLS_HOLD(dls_results_close) dls_results *file = NULL;
    dls_sweep_store_path(folder, id, ".h5", path, sizeof path);
    if (access(path, F_OK) != 0 || dls_results_open(path, &file, NULL) != DLS_OK) {
        return false;
    }
    const bool own = file->ids.n == 1 && strcmp(dls_results_run_id(file, 0), id) == 0;
    return own;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Whether the lock file at `path` is held; one that is not there is not. It is only looked at: who
 * wants it meanwhile gets it. */
static bool held(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fd < 0) {
        return false;
    }
    const bool busy = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return busy;
}

dls_status dls_sweep_lock_take(const char *folder, const char *id, dls_sweep_lock *lock,
                               bool *taken, dls_error *err)
{
    char sub[PATH_BYTES];
    snprintf(sub, sizeof sub, "%s/points/%.2s", folder, id);
    DLS_TRY(dls_folder_make(sub, err));
    dls_sweep_store_path(folder, id, ".lock", lock->path, sizeof lock->path);
    *taken = false;
    for (;;) {
        struct stat mine, there;
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->fd < 0) {
            return dls_fail(err, DLS_EOUTPUT, lock->path, "cannot be created: %s", strerror(errno));
        }
        if (fcntl(lock->fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
            close(lock->fd);
            lock->fd = -1;
            return DLS_OK;
        }
        /* A file system without locks (ENOLCK) lets everybody in: two that run one point write the
         * same bytes. Whoever held the lock before may have removed the file in between. */
        if (fstat(lock->fd, &mine) == 0 && stat(lock->path, &there) == 0 &&
            mine.st_ino == there.st_ino) {
            *taken = true;
            return DLS_OK;
        }
        close(lock->fd);
    }
}

void dls_sweep_lock_release(dls_sweep_lock *lock)
{
    if (lock->fd >= 0) {
        unlink(lock->path);
        close(lock->fd);
        lock->fd = -1;
    }
}

/* In one folder of points: what no process holds. */
static void clean(const char *folder, const char *sub)
{
    DIR *dir = opendir(sub);
    if (!dir) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name + (*entry->d_name == '.'); /* parts may be hidden */
        const char *ext = name + strspn(name, "0123456789abcdef");
        char id[DLS_SWEEP_ID];
        dls_sweep_lock lock;
        bool taken;
        if (ext - name != DLS_SWEEP_ID - 1 || strcmp(ext, ".h5") == 0 ||
            strcmp(ext, ".failed") == 0) {
            continue;
        }
        snprintf(id, sizeof id, "%s", name);
        if (dls_sweep_lock_take(folder, id, &lock, &taken, NULL) == DLS_OK && taken) {
            unlinkat(dirfd(dir), entry->d_name, 0);
            dls_sweep_lock_release(&lock); /* removes the lock */
        }
    }
    closedir(dir);
}

void dls_sweep_store_clean(const char *folder)
{
    for (int i = 0; i < 256; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/points/%02x", folder, (unsigned)i);
        clean(folder, path);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

dls_status dls_sweep_failure_put(const char *folder, const char *id, const char *message,
                                 dls_error *err)
{
    char path[PATH_BYTES];
    dls_sweep_store_path(folder, id, ".failed", path, sizeof path);
    if (!message) {
        unlink(path);
        return DLS_OK;
    }
    FILE *file = fopen(path, "w");
    if (!file) {
        return dls_fail(err, DLS_EOUTPUT, path, "cannot be created: %s", strerror(errno));
    }
    fprintf(file, "%s\n", message);
    return fclose(file) == 0
               ? DLS_OK
               : dls_fail(err, DLS_EOUTPUT, path, "cannot be written: %s", strerror(errno));
}

void dls_sweep_failure_get(const char *folder, const char *id, char message[DLS_STUDY_FAILURE])
{
    char path[PATH_BYTES];
    message[0] = '\0';
    FILE *file = fopen(dls_sweep_store_path(folder, id, ".failed", path, sizeof path), "r");
    if (file) {
        const size_t n = fread(message, 1, DLS_STUDY_FAILURE - 1, file);
        message[n] = '\0';
        message[strcspn(message, "\n")] = '\0';
        fclose(file);
    }
}

dls_study_state dls_sweep_state_of(const char *folder, const char *id)
{
    char path[PATH_BYTES];
    if (dls_sweep_finished(folder, id)) {
        return DLS_STUDY_FINISHED;
    }
    if (held(dls_sweep_store_path(folder, id, ".lock", path, sizeof path))) {
        return DLS_STUDY_RUNNING;
    }
    return access(dls_sweep_store_path(folder, id, ".failed", path, sizeof path), F_OK) == 0
               ? DLS_STUDY_FAILED
               : DLS_STUDY_MISSING;
}

const char *dls_study_state_name(dls_study_state state)
{
    static const char *const names[] = {[DLS_STUDY_MISSING] = "missing",
                                        [DLS_STUDY_FINISHED] = "finished",
                                        [DLS_STUDY_FAILED] = "failed",
                                        [DLS_STUDY_RUNNING] = "running"};
    return names[state];
}
