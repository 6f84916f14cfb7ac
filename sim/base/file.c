/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads files and pipes whole within a limit, refuses NUL bytes in text, hashes files, and
 * decompresses gzip with zlib.
 */
#define ZLIB_CONST /* next_in may point to constant bytes */
#include "base/file.h"

#include "base/own.h"
#include "dlsim/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK ((size_t)1 << 16)

const char *dls_file_where(const char *path, const char *text, size_t offset, char *where,
                           size_t size)
{
    size_t line = 1, start = 0;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    snprintf(where, size, "%.200s:%zu:%zu", path, line, offset - start + 1);
    return where;
}

static dls_status too_large(const char *path, size_t limit, dls_error *err)
{
    const bool in_mib = limit >> 20 > 0;
    return dls_fail(err, DLS_EINPUT, path, "is larger than %zu %s, the limit for such a file",
                    in_mib ? limit >> 20 : limit, in_mib ? "MiB" : "bytes");
}

static dls_status refuse_nul(const char *path, const char *text, size_t from, size_t len,
                             dls_error *err)
{
    const char *nul = dls_file_is_gzip(text, len) ? NULL : memchr(text + from, '\0', len - from);
    char where[256];
    return !nul ? DLS_OK
                : dls_fail(err, DLS_EINPUT,
                           dls_file_where(path, text, (size_t)(nul - text), where, sizeof where),
                           "a NUL byte: this is not a text file");
}

/* Room for at least a byte and '\0' behind len: doubled, but never more than the limit needs. */
static dls_status make_room(char **bytes, size_t *cap, size_t len, size_t limit, dls_error *err)
{
    if (*cap >= len + 2) {
        return DLS_OK;
    }
    size_t want = *cap < CHUNK ? CHUNK : *cap * 2;
    want = want > limit ? limit + 2 : want;
    char *p = dls_realloc(*bytes, want);
    if (!p) {
        return dls_nomem(err, "input file", want);
    }
    *bytes = p;
    *cap = want;
    return DLS_OK;
}

/* *bytes is the caller's even on failure. */
static dls_status read_fd(int fd, const char *path, bool is_text, size_t limit, char **bytes,
                          size_t *len, dls_error *err)
{
    struct stat st;
    size_t cap = 0;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        return dls_fail(err, DLS_EINPUT, path, "is a directory, expected a file");
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        if ((uintmax_t)st.st_size > limit) {
            return too_large(path, limit, err);
        }
        cap = (size_t)st.st_size + 2; /* room to see the end of the file, and for '\0' */
        *bytes = dls_alloc(cap);
        if (!*bytes) {
            return dls_nomem(err, path, cap);
        }
    }
    for (;;) {
        DLS_TRY(make_room(bytes, &cap, *len, limit, err));
        const ssize_t n = read(fd, *bytes + *len, cap - *len - 1);
        if (n == 0) {
            (*bytes)[*len] = '\0';
            return DLS_OK;
        }
        if (n < 0 && errno != EINTR) {
            return dls_fail(err, DLS_EINPUT, path, "cannot be read: %s", strerror(errno));
        }
        const size_t from = *len;
        *len += n > 0 ? (size_t)n : 0;
        if (*len > limit) {
            return too_large(path, limit, err);
        }
        if (is_text) {
            DLS_TRY(refuse_nul(path, *bytes, from, *len, err));
        }
    }
}

static dls_status read_path(const char *path, bool is_text, size_t limit, char **bytes, size_t *len,
                            dls_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "<stdin>" : path;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *bytes = NULL;
    *len = 0;
    if (fd < 0) {
        return dls_fail(err, DLS_EINPUT, path, "cannot be opened: %s", strerror(errno));
    }
    const dls_status status = read_fd(fd, name, is_text, limit, bytes, len, err);
    if (!is_stdin) {
        close(fd);
    }
    if (status != DLS_OK) {
        dls_free(*bytes);
        *bytes = NULL;
    }
    return status;
}

dls_status dls_file_read(const char *path, size_t limit, char **bytes, size_t *len, dls_error *err)
{
    return read_path(path, false, limit, bytes, len, err);
}

dls_status dls_file_read_text(const char *path, size_t limit, char **text, size_t *len,
                              dls_error *err)
{
    return read_path(path, true, limit, text, len, err);
}

dls_status dls_file_hash(const char *path, dls_sha256 *sha, dls_error *err)
{
    unsigned char buf[CHUNK];
    FILE *file = fopen(path, "rbe");
    if (!file) {
        return dls_fail(err, DLS_EINPUT, path, "cannot be opened: %s", strerror(errno));
    }
    for (size_t n; (n = fread(buf, 1, sizeof buf, file)) > 0;) {
        dls_sha256_update(sha, buf, n);
    }
    const int why = ferror(file) ? errno : 0;
    fclose(file);
    return why ? dls_fail(err, DLS_EINPUT, path, "cannot be read: %s", strerror(why)) : DLS_OK;
}

dls_status dls_file_check_regular(const char *path, dls_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0 || access(path, R_OK) != 0) {
        return dls_fail(err, DLS_EINPUT, path, "cannot be opened: %s", strerror(errno));
    }
    return S_ISREG(st.st_mode) ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "is not a regular file");
}

bool dls_file_same(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino && S_ISREG(one.st_mode);
}

/* ---- gzip ------------------------------------------------------------------------------------ */

bool dls_file_is_gzip(const char *bytes, size_t len)
{
    return len >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

static void *z_alloc(void *user, uInt n, uInt size)
{
    return dls_alloc_zero(n, size);
}

static void z_free(void *user, void *p)
{
    dls_free(p);
}

/* All members from z->next_in on, `left` bytes in all; *text grows as needed. */
static dls_status inflate_all(z_stream *z, size_t left, const char *path, size_t limit, char **text,
                              size_t *len, dls_error *err)
{
    size_t cap = 0;
    for (int rc = Z_OK; rc != Z_STREAM_END || z->avail_in > 0 || left > 0;) {
        if (rc == Z_STREAM_END && inflateReset(z) != Z_OK) {
            return dls_fail(err, DLS_ERUN, path, "zlib could not be reset");
        }
        if (z->avail_in == 0) {
            z->avail_in = left > UINT_MAX ? UINT_MAX : (uInt)left;
            left -= z->avail_in;
        }
        DLS_TRY(make_room(text, &cap, *len, limit, err));
        const uInt give = cap - *len - 1 > UINT_MAX ? UINT_MAX : (uInt)(cap - *len - 1);
        const size_t from = *len;
        z->next_out = (Bytef *)*text + from;
        z->avail_out = give;
        rc = inflate(z, Z_NO_FLUSH);
        *len += give - z->avail_out;
        if (*len > limit) {
            return too_large(path, limit, err);
        }
        if (rc == Z_MEM_ERROR) {
            return dls_nomem(err, "decompressing", 0);
        }
        if (rc == Z_BUF_ERROR ||
            (rc == Z_OK && z->avail_in == 0 && left == 0 && z->avail_out > 0)) {
            return dls_fail(err, DLS_EINPUT, path,
                            "the gzip data end too early (file cut short? %zu bytes came out)",
                            *len);
        }
        if (rc != Z_OK && rc != Z_STREAM_END) {
            return dls_fail(err, DLS_EINPUT, path, "the gzip data are corrupt after %zu bytes: %s",
                            *len, z->msg ? z->msg : "unknown error");
        }
        DLS_TRY(refuse_nul(path, *text, from, *len, err));
    }
    (*text)[*len] = '\0';
    return DLS_OK;
}

dls_status dls_file_gunzip(const char *path, const char *bytes, size_t len, size_t limit,
                           char **text, size_t *text_len, dls_error *err)
{
    z_stream z = {.zalloc = z_alloc, .zfree = z_free, .next_in = (const Bytef *)bytes};
    *text = NULL;
    *text_len = 0;
    const int rc = inflateInit2(&z, 15 + 16); /* the largest window, gzip framing only */
    if (rc != Z_OK) {
        return rc == Z_MEM_ERROR ? dls_nomem(err, "decompressing", 0)
                                 : dls_fail(err, DLS_ERUN, path, "zlib could not be started");
    }
    const dls_status status = inflate_all(&z, len, path, limit, text, text_len, err);
    inflateEnd(&z);
    if (status != DLS_OK) {
        dls_free(*text);
        *text = NULL;
    }
    return status;
}

dls_status dls_file_read_plain(const char *path, size_t limit, char **text, size_t *len,
                               dls_error *err)
{
    DLS_TRY(dls_file_read_text(path, limit, text, len, err));
    if (!dls_file_is_gzip(*text, *len)) {
        return DLS_OK;
    }
    DLS_FREED char *packed = *text;
    dls_status status = dls_file_gunzip(path, packed, *len, limit, text, len, err);
    DLS_THEN(status, refuse_nul(path, *text, 0, *len, err));
    if (status != DLS_OK) {
        dls_free(*text);
        *text = NULL;
    }
    return status;
}

dls_status dls_read_text(const char *path, char **text, dls_error *err)
{
    size_t len;
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_TABLE, text, &len, err));
    const char *begin = dls_past_mark(*text);
    memmove(*text, begin, strlen(begin) + 1);
    return DLS_OK;
}

dls_status dls_file_lines(const char *path, size_t limit,
                          dls_status (*one)(void *user, char *line, dls_error *err), void *user,
                          dls_error *err)
{
    DLS_FREED char *text = NULL;
    char *rest;
    size_t len;
    DLS_TRY(dls_file_read_plain(path, limit, &text, &len, err));
    rest = text + (dls_past_mark(text) - text);
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (*line) {
            DLS_TRY(one(user, line, err));
        }
    }
    return DLS_OK;
}

/* ---- folders --------------------------------------------------------------------------------- */

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

dls_status dls_file_names(const char *path, struct dirent ***names, int *n, dls_error *err)
{
    *names = NULL;
    *n = scandir(path, names, visible, alphasort);
    if (*n < 0 && errno != ENOTDIR) {
        return dls_fail(err, DLS_EINPUT, path, "the folder cannot be read: %s", strerror(errno));
    }
    *n = *n > 0 ? *n : 0;
    return DLS_OK;
}

void dls_file_free_names(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++) {
        free(names[i]); /* the C library's own */
    }
    free(names);
}
