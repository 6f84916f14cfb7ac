/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/alloc.h"
#include "base/sha256.h"
#include "traces/gunzip.h"
#include "traces/reader.h"
#include "traces/trace_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the bytes ---------------------------------------------------------------------------------
 */

/* All of fd, terminated by '\0'; *bytes is the caller's even on failure. */
static dls_status slurp(int fd, const char *path, char **bytes, size_t *len, dls_error *err)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        return dls_fail(err, DLS_EINPUT, path, "is a directory, expected a trace file");
    }
    size_t cap = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        cap = (size_t)st.st_size + 2; /* room to see the end of the file, and for '\0' */
        *bytes = dls_alloc(cap);
        if (!*bytes) {
            return dls_nomem(err, "trace file", cap);
        }
    }
    *len = 0;
    for (;;) {
        if (cap - *len < 2) {
            DLS_TRY(dls_grow(bytes, &cap, *len + 65536, 1, err));
        }
        const ssize_t n = read(fd, *bytes + *len, cap - *len - 1);
        if (n == 0) {
            (*bytes)[*len] = '\0';
            return DLS_OK;
        }
        if (n > 0) {
            *len += (size_t)n;
        } else if (errno != EINTR) {
            return dls_fail(err, DLS_EINPUT, path, "cannot be read: %s", strerror(errno));
        }
    }
}

void dls_source_where(const dls_trace_source *src, size_t offset, char *where, size_t size)
{
    size_t line = 1, start = 0;
    for (size_t i = 0; i < offset && i < src->len; i++) {
        if (src->text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    snprintf(where, size, "%.200s:%zu:%zu", src->path, line, offset - start + 1);
}

/* ---- the format --------------------------------------------------------------------------------
 */

static dls_status format_by_name(const char *name, const dls_trace_format **out, dls_error *err)
{
    char known[512] = "";
    size_t used = 0;
    for (const dls_trace_format *const *f = dls_trace_formats(); *f; f++) {
        if (strcmp((*f)->name, name) == 0) {
            *out = *f;
            return DLS_OK;
        }
        if (used < sizeof known) {
            used += (size_t)snprintf(known + used, sizeof known - used, " %s", (*f)->name);
        }
    }
    return dls_fail(err, DLS_EUSAGE, name, "no such trace format; there are: auto%s", known);
}

static dls_status recognise(const dls_trace_source *src, const dls_trace_format **out,
                            dls_error *err)
{
    int best = 0;
    *out = NULL;
    for (const dls_trace_format *const *f = dls_trace_formats(); *f; f++) {
        const int score = (*f)->sniff(src);
        if (score > best) {
            best = score;
            *out = *f;
        }
    }
    if (*out) {
        return DLS_OK;
    }
    const char *what = dls_trace_not_jobs(src);
    if (what) {
        return dls_fail(err, DLS_EINPUT, src->path, "is not a job trace but %s", what);
    }
    const size_t shown = strcspn(src->text, "\r\n");
    return dls_fail(err, DLS_EINPUT, src->path,
                    "the trace format is not recognised; the file starts '%.*s'; name the format "
                    "if you know it",
                    (int)(shown < 80 ? shown : 80), src->text);
}

static dls_status read_source(const dls_trace_source *src, const char *format, const char *sha256,
                              dls_trace **out, dls_error *err)
{
    if (src->len == 0) {
        return dls_fail(err, DLS_EINPUT, src->path, "the file is empty");
    }
    const char *nul = memchr(src->text, '\0', src->len);
    if (nul) {
        char where[256];
        dls_source_where(src, (size_t)(nul - src->text), where, sizeof where);
        return dls_fail(err, DLS_EINPUT, where, "a NUL byte: this is not a text file");
    }
    const dls_trace_format *f = NULL;
    if (!format || strcmp(format, "auto") == 0) {
        DLS_TRY(recognise(src, &f, err));
    } else {
        DLS_TRY(format_by_name(format, &f, err));
    }
    dls_trace_builder *b = NULL;
    DLS_TRY(dls_trace_builder_create(src->opts, &b, err));
    dls_trace_info *info = dls_trace_builder_info(b);
    snprintf(info->path, sizeof info->path, "%s", src->path);
    snprintf(info->format, sizeof info->format, "%s", f->name);
    snprintf(info->sha256, sizeof info->sha256, "%s", sha256);
    dls_status status = f->read(src, b, err);
    if (status == DLS_OK) {
        status = dls_trace_builder_finish(b, out, err);
    }
    if (status != DLS_OK) {
        dls_trace_builder_destroy(b);
    }
    return status;
}

/* Messages quote the file: nothing in it may steer a terminal. */
static void make_printable(char *msg)
{
    for (; *msg; msg++) {
        if ((unsigned char)*msg < 0x20 || *msg == 0x7f) {
            *msg = '?';
        }
    }
}

/* *bytes end with '\0'; they are freed, and *bytes NULL, as soon as they are decompressed. */
static dls_status parse(const char *path, char **bytes, size_t len, const char *format,
                        const dls_trace_options *opts, dls_trace **out, dls_error *err)
{
    static const dls_trace_options defaults;
    const unsigned char *raw = (const unsigned char *)*bytes;
    char sha256[DLS_SHA256_HEX];
    dls_sha256_hex(raw, len, sha256);
    dls_trace_source src = {path, (const char *)raw, len, opts ? opts : &defaults};
    char *text = NULL;
    if (dls_is_gzip(raw, len)) {
        DLS_TRY(dls_gunzip(path, raw, len, &text, &src.len, err));
        src.text = text;
        dls_free(*bytes);
        *bytes = NULL;
    }
    if (src.len >= 3 && memcmp(src.text, "\xef\xbb\xbf", 3) == 0) {
        src.text += 3;
        src.len -= 3;
    }
    const dls_status status = read_source(&src, format, sha256, out, err);
    if (status != DLS_OK && err) {
        make_printable(err->msg);
    }
    dls_free(text);
    return status;
}

dls_status dls_trace_parse(const char *path, const void *bytes, size_t len, const char *format,
                           const dls_trace_options *opts, dls_trace **out, dls_error *err)
{
    char *text = dls_alloc(len + 1); /* readers are promised a terminator */
    if (!text) {
        return dls_nomem(err, "trace", len + 1);
    }
    if (len) {
        memcpy(text, bytes, len);
    }
    text[len] = '\0';
    const dls_status status = parse(path, &text, len, format, opts, out, err);
    dls_free(text);
    return status;
}

dls_status dls_trace_load(const char *path, const char *format, const dls_trace_options *opts,
                          dls_trace **out, dls_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "<stdin>" : path;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return dls_fail(err, DLS_EINPUT, path, "cannot be opened: %s", strerror(errno));
    }
    char *bytes = NULL;
    size_t len = 0;
    dls_status status = slurp(fd, name, &bytes, &len, err);
    if (!is_stdin) {
        close(fd);
    }
    if (status == DLS_OK) {
        status = parse(name, &bytes, len, format, opts, out, err);
    }
    dls_free(bytes);
    return status;
}
