/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads a trace file: reads and decompresses it, recognises its format by its content, and runs the
 * format's reader.
 */
#include "base/file.h"
#include "base/guard.h"
#include "base/own.h"
#include "base/sha256.h"
#include "traces/reader.h"
#include "traces/table.h"
#include "traces/trace_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- the format ------------------------------------------------------------------------------ */

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
        const int score = (*f)->sniff ? (*f)->sniff(src) : dls_trace_table_sniff((*f)->table, src);
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
        dls_file_where(src->path, src->text, (size_t)(nul - src->text), where, sizeof where);
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
    const dls_status status =
        f->read ? f->read(src, b, err) : dls_trace_table_read(f->table, src, b, err);
    return dls_trace_builder_end(b, status, out, err);
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
    char sha256[DLS_SHA256_HEX];
    dls_sha256_hex(*bytes, len, sha256);
    dls_trace_source src = {path, *bytes, len, opts ? opts : &defaults};
    DLS_FREED char *text = NULL;
    if (dls_file_is_gzip(*bytes, len)) {
        DLS_TRY(dls_file_gunzip(path, *bytes, len, DLS_FILE_TRACE, &text, &src.len, err));
        src.text = text;
        dls_free(*bytes);
        *bytes = NULL;
    }
    const char *begin = dls_past_mark(src.text);
    src.len -= (size_t)(begin - src.text);
    src.text = begin;
    const dls_status status = read_source(&src, format, sha256, out, err);
    if (status != DLS_OK && err) {
        make_printable(err->msg);
    }
    return status;
}

dls_status dls_trace_parse(const char *path, const void *bytes, size_t len, const char *format,
                           const dls_trace_options *opts, dls_trace **out, dls_error *err)
{
    DLS_FREED char *text = dls_alloc(len + 1); /* readers are promised a terminator */
    if (!text) {
        return dls_nomem(err, "trace", len + 1);
    }
    if (len) {
        memcpy(text, bytes, len);
    }
    text[len] = '\0';
    return parse(path, &text, len, format, opts, out, err);
}

dls_status dls_trace_of_text(const dls_trace_source *src, const char *format, dls_trace **out,
                             dls_error *err)
{
    DLS_IN_C_LOCALE;
    char sha256[DLS_SHA256_HEX];
    dls_sha256_hex(src->text, src->len, sha256);
    const dls_status status = read_source(src, format, sha256, out, err);
    if (status != DLS_OK && err) {
        make_printable(err->msg);
    }
    return status;
}

dls_status dls_trace_load(const char *path, const char *format, const dls_trace_options *opts,
                          dls_trace **out, dls_error *err)
{
    DLS_IN_C_LOCALE;
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    DLS_FREED char *bytes = NULL;
    size_t len;
    DLS_TRY(dls_file_read_text(path, DLS_FILE_TRACE, &bytes, &len, err));
    return parse(name, &bytes, len, format, opts, out, err);
}
