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
#include <stdlib.h>
#include <string.h>

#define INCLUDE_DEPTH_MAX 8 /* libconfig's own bound is 10 */

typedef struct scan {
    const char *path, *folder;
    const char *counted; /* up to here the lines are counted */
    int line, depth;
    bool good;
    dls_problems *problems;
} scan;

dls_status dls_config_read_text(const char *path, char **text, size_t *len, dls_error *err)
{
    const dls_status status = dls_file_read(path, DLS_FILE_CONFIG, text, len, err);
    if (status == DLS_EINPUT && err) {
        err->status = DLS_ECONFIG;
    }
    return status == DLS_EINPUT ? DLS_ECONFIG : status;
}

/* At p; the texts before and behind stand around the first len bytes of `text`. */
static void problem(scan *s, const char *p, const char *before, const char *text, int len,
                    const char *behind)
{
    char where[300];
    for (; s->counted < p; s->counted++) {
        s->line += *s->counted == '\n';
    }
    snprintf(where, sizeof where, "%s:%d", s->path, s->line);
    dls_problems_add(s->problems, where, "%s%.*s%s", before, len, text, behind);
}

/* Past the number at p. */
static const char *check_number(scan *s, const char *p)
{
    const char *start = p;
    p += *p == '-' || *p == '+';
    const bool hex = *p == '0' && (p[1] == 'x' || p[1] == 'X');
    p += hex ? 2 : 0;
    const char *digits = p;
    p += strspn(p, hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (p == digits || (!hex && strchr(".eE", *p) && *p)) {
        p += strspn(p, "0123456789abcdefABCDEF.-+");
        return p > start ? p : p + 1;
    }
    const int len = (int)(p - start < 60 ? p - start : 60);
    errno = 0;
    const unsigned long long value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno != 0 || value > INT64_MAX) {
        problem(s, start, "the number ", start, len, " does not fit 64 bits");
    } else if (*p != 'L' && value > INT32_MAX) {
        problem(s, start, "the number ", start, len, " does not fit 32 bits: put an L behind it");
    }
    return p + strspn(p, "L");
}

static void scan_text(scan *s, const char *text, size_t n);

/* The directive at p; past its name. */
static const char *scan_include(scan *s, const char *p)
{
    const char *open = p + 8 + strspn(p + 8, " \t"), *name = open + 1, *why = NULL;
    const size_t len = *open == '"' ? strcspn(name, "\"\n") : 0;
    if (*open != '"' || name[len] != '"') {
        problem(s, p, "cannot include \"", "", 0, "\": a file name in quotes is missing");
        s->good = false;
        return p + 8;
    }
    const size_t room = strlen(s->folder) + len + 2;
    char *path = dls_alloc(room), *text = NULL;
    size_t n = 0;
    dls_error err = {0};
    if (!path) {
        s->problems->nomem = true;
        s->good = false;
        return name + len + 1;
    }
    snprintf(path, room, "%s/%.*s", s->folder, (int)len, name);
    if (len == 0 || *name == '/' || memchr(name, '\\', len)) {
        why = "\": name a file relative to the configuration's folder";
    } else if (s->depth == INCLUDE_DEPTH_MAX) {
        why = "\": too many files include each other";
    } else if (dls_config_read_text(path, &text, &n, &err) != DLS_OK) {
        why = "\": there is no such file, or it cannot be read";
    }
    if (why) {
        problem(s, p, "cannot include \"", name, (int)len, why);
        s->good = false;
    } else {
        scan inner = {strcmp(s->folder, ".") == 0 ? path + 2 : path,
                      s->folder,
                      text,
                      1,
                      s->depth + 1,
                      true,
                      s->problems};
        scan_text(&inner, text, n);
        s->good = s->good && inner.good;
    }
    dls_free(text);
    dls_free(path);
    return name + len + 1;
}

/* Past the string, the comment or the one character at p. */
static const char *skip(const char *p)
{
    if (*p == '"') {
        for (p++; *p && *p != '"'; p++) {
            p += *p == '\\' && p[1];
        }
        return p + (*p == '"');
    }
    if (*p == '#' || (*p == '/' && p[1] == '/')) {
        return p + strcspn(p, "\n");
    }
    if (*p == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    return p + 1;
}

static void scan_text(scan *s, const char *text, size_t n)
{
    bool at_start = true; /* only blanks so far on this line: where @include is looked for */
    if (memchr(text, '\0', n)) {
        dls_problems_add(s->problems, s->path, "contains a NUL byte: not a configuration");
        s->good = false;
        return;
    }
    for (const char *p = text; *p;) {
        const bool blank = strchr(" \t\r\n", *p) != NULL;
        const bool starts = at_start;
        at_start = *p == '\n' || (at_start && blank);
        if (starts && strncmp(p, "@include", 8) == 0) {
            p = scan_include(s, p);
        } else if (isdigit((unsigned char)*p) ||
                   (strchr("-+.", *p) && (isdigit((unsigned char)p[1]) || p[1] == '.'))) {
            p = check_number(s, p);
        } else if (isalpha((unsigned char)*p) || *p == '*') {
            while (isalnum((unsigned char)*p) || *p == '-' || *p == '_' || *p == '*') {
                p++;
            }
        } else {
            p = skip(p);
        }
    }
}

bool dls_config_prescan(const char *text, size_t len, const char *path, const char *folder,
                        dls_problems *problems)
{
    scan s = {path, folder, text, 1, 0, true, problems};
    scan_text(&s, text, len);
    return s.good;
}
