/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mkdir -p.
 */
#include "base/folder.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

dls_status dls_folder_make(const char *dir, dls_error *err)
{
    char *path = dls_strdup(dir);
    if (!path) {
        return dls_nomem(err, "folder name", strlen(dir));
    }
    int failed = 0;
    for (char *p = path + 1; !failed && *path; p++) {
        const char c = *p;
        if (c == '/' || c == '\0') {
            *p = '\0';
            failed = mkdir(path, 0777) != 0 && errno != EEXIST ? errno : 0;
            *p = c;
        }
        if (c == '\0') {
            break;
        }
    }
    struct stat st;
    if (!failed && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))) {
        failed = ENOTDIR;
    }
    dls_free(path);
    return failed ? dls_fail(err, DLS_EOUTPUT, dir, "cannot be made: %s", strerror(failed))
                  : DLS_OK;
}
