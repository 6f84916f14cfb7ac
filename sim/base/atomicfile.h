/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file that appears under its name only when it is whole. It is written without a name in the
 * same folder (O_TMPFILE; as .NAME.XXXXXX where the file system has none), synced to the disk, and
 * named. A process that is killed leaves nothing behind, but on such file systems, and in the instant
 * in which a file that is there is replaced: .NAME.XXXXXX, whole.
 *
 *      begin -> write to part ------> commit    PATH holds the new content
 *                              \----> abort     PATH is as before, nothing is left behind
 *
 * Any number of writers may write one PATH at a time: whoever commits last wins. One file belongs
 * to one thread.
 */
#ifndef DLS_BASE_ATOMICFILE_H
#define DLS_BASE_ATOMICFILE_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct dls_atomicfile {
    char *path; /* where it goes, symbolic links followed */
    char *part; /* where it is written meanwhile: open it by this name */
    int fd;     /* keeps it there */
    bool named; /* part is in the folder, not only in this process */
} dls_atomicfile;

/* Create an empty part. Errors: EOUTPUT (folder missing or not writable, PATH is there and not
 * a regular file), ENOMEM. On failure *f is zero and needs nothing. */
dls_status dls_atomicfile_begin(dls_atomicfile *f, const char *path, dls_error *err) DLS_MUST_CHECK;
/* Sync and put in place; the writer has closed its own handle. *f is released whether it works or not. */
dls_status dls_atomicfile_commit(dls_atomicfile *f, dls_error *err) DLS_MUST_CHECK;
/* Begin, put the content into a stream, commit; whatever fails, PATH is as before. put need not
 * look at the stream's errors: they are reported as EOUTPUT with the system's reason. What put
 * itself reports is passed on. */
typedef dls_status (*dls_atomicfile_put_fn)(FILE *to, void *what, dls_error *err);
dls_status dls_atomicfile_write(const char *path, dls_atomicfile_put_fn put, void *what,
                                dls_error *err) DLS_MUST_CHECK;
/* The same, but "-" is standard output, and a pipe or a device is written to and not replaced. */
dls_status dls_atomicfile_stream(const char *path, dls_atomicfile_put_fn put, void *what,
                                 dls_error *err) DLS_MUST_CHECK;
/* Remove the part. Nothing happens if *f is zero or committed. */
void dls_atomicfile_abort(dls_atomicfile *f);

#endif
