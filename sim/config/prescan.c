/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scans configuration text before libconfig reads it, for what libconfig 1.5 gets wrong: numbers
 * beyond 32 bits, NUL bytes, includes that are missing, absolute or too deep.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "config/load.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INCLUDE_DEPTH_MAX 8 /* libconfig's own bound is 10 */

typedef struct scan {
    const char *text, *end;
    const char *path, *folder;
    int line, depth;
    bool good;
    dls_problems *problems;
} scan;

static void problem(scan *s, const char *before, const char *text, int len, const char *after)
{
    char where[300];
    snprintf(where, sizeof where, "%s:%d", s->path, s->line);
    dls_problems_add(s->problems, where, "%s%.*s%s", before, len, text, after);
}

static void cannot_include(scan *s, const char *name, int len, const char *why)
{
    problem(s, "cannot include \"", name, len, why);
    s->good = false;
}

dls_status dls_config_read_text(const char *path, char **text, size_t *len, dls_error *err)
{
    const dls_status status = dls_file_read(path, DLS_FILE_CONFIG, text, len, err);
    if (status == DLS_EINPUT && err) {
        err->status = DLS_ECONFIG;
    }
    return status == DLS_EINPUT ? DLS_ECONFIG : status;
}

/* Past a string that starts at p (the quote); escapes are two bytes. */
static const char *skip_string(scan *s, const char *p)
{
    for (p++; p < s->end && *p != '"'; p++) {
        s->line += *p == '\n';
        if (*p == '\\' && p + 1 < s->end) {
            p++;
            s->line += *p == '\n';
        }
    }
    return p < s->end ? p + 1 : p;
}

static const char *skip_comment(scan *s, const char *p)
{
    if (*p == '#' || p[1] == '/') {
        while (p < s->end && *p != '\n') {
            p++;
        }
        return p;
    }
    for (p += 2; p < s->end; p++) {
        if (*p == '*' && p[1] == '/') {
            return p + 2;
        }
        s->line += *p == '\n';
    }
    return p;
}

/* p is at a digit, a sign or a point. Returns past the number. */
static const char *check_number(scan *s, const char *p)
{
    const char *start = p;
    p += *p == '-' || *p == '+';
    const bool hex = *p == '0' && (p[1] == 'x' || p[1] == 'X');
    if (hex) {
        p += 2;
    }
    const char *digits = p;
    while (hex ? isxdigit((unsigned char)*p) : isdigit((unsigned char)*p)) {
        p++;
    }
    const bool whole = p > digits && (hex || (*p != '.' && *p != 'e' && *p != 'E'));
    if (!whole) {
        while (isalnum((unsigned char)*p) || *p == '.' || *p == '-' || *p == '+') {
            p++;
        }
        return p > start ? p : p + 1;
    }
    const int len = (int)(p - start < 60 ? p - start : 60);
    errno = 0;
    const unsigned long long value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno != 0 || value > INT64_MAX) {
        problem(s, "the number ", start, len, " does not fit 64 bits");
    } else if (*p != 'L' && value > INT32_MAX) {
        problem(s, "the number ", start, len, " does not fit 32 bits: put an L behind it");
    }
    while (*p == 'L') {
        p++;
    }
    return p;
}

static void scan_text(scan *s);

static void scan_include(scan *s, const char *name, int len)
{
    char *path = NULL, *text = NULL;
    size_t n = 0;
    struct stat info;
    if (len == 0 || *name == '/' || memchr(name, '\\', (size_t)len)) {
        cannot_include(s, name, len, "\": name a file relative to the configuration's folder");
        return;
    }
    if (s->depth == INCLUDE_DEPTH_MAX) {
        cannot_include(s, name, len, "\": too many files include each other");
        return;
    }
    const size_t room = strlen(s->folder) + (size_t)len + 2;
    path = dls_alloc(room);
    if (!path) {
        s->problems->nomem = true;
        s->good = false;
        return;
    }
    snprintf(path, room, "%s/%.*s", s->folder, len, name);
    dls_error err;
    if (stat(path, &info) != 0) {
        cannot_include(s, name, len, "\": there is no such file");
    } else if (!S_ISREG(info.st_mode)) {
        cannot_include(s, name, len, "\": not a file");
    } else if (dls_config_read_text(path, &text, &n, &err) != DLS_OK) {
        cannot_include(s, name, len, "\": it cannot be read");
    } else {
        scan inner = {.text = text,
                      .end = text + n,
                      .path = strcmp(s->folder, ".") == 0 ? path + 2 : path,
                      .folder = s->folder,
                      .line = 1,
                      .depth = s->depth + 1,
                      .good = true,
                      .problems = s->problems};
        scan_text(&inner);
        s->good = s->good && inner.good;
        dls_free(text);
    }
    dls_free(path);
}

static void scan_text(scan *s)
{
    if (memchr(s->text, '\0', (size_t)(s->end - s->text))) {
        dls_problems_add(s->problems, s->path, "contains a NUL byte: not a configuration");
        s->good = false;
        return;
    }
    bool at_start = true; /* only blanks so far on this line: where @include is looked for */
    for (const char *p = s->text; p < s->end;) {
        const char c = *p;
        if (c == '\n') {
            s->line++;
            at_start = true;
            p++;
            continue;
        }
        if (c == ' ' || c == '\t' || c == '\r') {
            p++;
            continue;
        }
        if (c == '#' || (c == '/' && (p[1] == '/' || p[1] == '*'))) {
            p = skip_comment(s, p);
        } else if (c == '"') {
            p = skip_string(s, p);
        } else if (at_start && strncmp(p, "@include", 8) == 0) {
            const char *open = p + 8 + strspn(p + 8, " \t");
            const char *name = open + 1;
            const size_t len = *open == '"' ? strcspn(name, "\"\n") : 0;
            if (*open != '"' || name[len] != '"') {
                cannot_include(s, "", 0, "\": a file name in quotes is missing");
                p += 8;
            } else {
                scan_include(s, name, (int)len);
                p = name + len + 1;
            }
        } else if (isdigit((unsigned char)c) ||
                   ((c == '-' || c == '+' || c == '.') && p + 1 < s->end &&
                    (isdigit((unsigned char)p[1]) || p[1] == '.'))) {
            p = check_number(s, p);
        } else if (isalpha((unsigned char)c) || c == '*') {
            while (isalnum((unsigned char)*p) || *p == '-' || *p == '_' || *p == '*') {
                p++;
            }
        } else {
            p++;
        }
        at_start = false;
    }
}

bool dls_config_prescan(const char *text, size_t len, const char *path, const char *folder,
                        dls_problems *problems)
{
    scan s = {.text = text,
              .end = text + len,
              .path = path,
              .folder = folder,
              .line = 1,
              .good = true,
              .problems = problems};
    scan_text(&s);
    return s.good;
}
