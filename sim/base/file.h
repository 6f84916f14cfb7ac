/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one way to read an input file: whole, within a limit, from a disk, a pipe or a device. A read
 * error is an error and never the end of the file.
 *
 *      DLS_TRY(dls_file_read(path, DLS_FILE_TABLE, &text, &len, err));
 *      ...
 *      dls_free(text);
 */
#ifndef DLS_BASE_FILE_H
#define DLS_BASE_FILE_H

#include "base/sha256.h"
#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Limits in bytes. */
#define DLS_FILE_CONFIG ((size_t)16 << 20)
#define DLS_FILE_TABLE ((size_t)256 << 20)
#define DLS_FILE_GRAPH ((size_t)2 << 30) /* what protocol buffers allow */
#define DLS_FILE_TRACE ((size_t)4 << 30) /* plain or unpacked */

/* All bytes of a file, "-" for standard input, and a '\0' behind them; *bytes is the caller's, to
 * be freed by dls_free, and NULL on failure. Errors: EINPUT naming the path (cannot be opened or
 * read, is a directory, is larger than the limit), ENOMEM. */
dls_status dls_file_read(const char *path, size_t limit, char **bytes, size_t *len,
                         dls_error *err) DLS_MUST_CHECK;
/* The same for text: a NUL byte is refused where it stands, as soon as it is read, so that a device
 * or an image is not read to its limit. Compressed files (gzip) pass as they are. */
dls_status dls_file_read_text(const char *path, size_t limit, char **text, size_t *len,
                              dls_error *err) DLS_MUST_CHECK;

/* Are these the first bytes of a gzip file? */
bool dls_file_is_gzip(const char *bytes, size_t len);
/* What gzip data of one or more members hold, within the limit, under the same terms as
 * dls_file_read. */
dls_status dls_file_gunzip(const char *path, const char *bytes, size_t len, size_t limit,
                           char **text, size_t *text_len, dls_error *err) DLS_MUST_CHECK;

/* Text as dls_file_read_text has it, gzip or not; the limit is of either. */
dls_status dls_file_read_plain(const char *path, size_t limit, char **text, size_t *len,
                               dls_error *err) DLS_MUST_CHECK;

/* Past the UTF-8 byte order mark with which a text may begin. */
static inline const char *dls_past_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

/* one() for each line of such a text that is not empty; '\n' and a byte order mark are cut off. */
dls_status dls_file_lines(const char *path, size_t limit,
                          dls_status (*one)(void *user, char *line, dls_error *err), void *user,
                          dls_error *err) DLS_MUST_CHECK;

/* The bytes of a file of any size become part of sha. Errors as above, but for the limit. */
dls_status dls_file_hash(const char *path, dls_sha256 *sha, dls_error *err) DLS_MUST_CHECK;

/* OK if path is a regular file that can be read: what libraries that open files themselves are
 * asked to open. A pipe would block them, a device would not end. */
dls_status dls_file_check_regular(const char *path, dls_error *err) DLS_MUST_CHECK;

/* Are both there, and the same regular file, by whatever names? */
bool dls_file_same(const char *a, const char *b);

/* Names in a folder that do not begin with a dot, sorted; none if it is a file. Given back by
 * dls_file_free_names. Errors: EINPUT. */
struct dirent;
dls_status dls_file_names(const char *path, struct dirent ***names, int *n,
                          dls_error *err) DLS_MUST_CHECK;
void dls_file_free_names(struct dirent **names, int n);

/* "path:line:column" of the byte at `offset`, 1-based; O(offset). Returns where. */
const char *dls_file_where(const char *path, const char *text, size_t offset, char *where,
                           size_t size);

#endif
