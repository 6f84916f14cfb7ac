/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads libconfig text safely: scans it for what libconfig 1.5 gets wrong, sets the folder of its
 * includes, and reports libconfig's errors with file and line.
 */
#include "config/tree.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/own.h"
#include "base/units.h"
#include "config/load.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- before libconfig ------------------------------------------------------------------------ */

/* What libconfig 1.5 gets wrong or dies of is looked for in the text before it sees it: whole
 * numbers that do not fit 32 bits without L (it wraps them), NUL bytes, includes that are missing,
 * absolute (it looks for them in the folder all the same) or too deep. */

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
    return dls_config_unread(dls_file_read(path, DLS_FILE_CONFIG, text, len, err), err);
}

dls_status dls_config_unread(dls_status status, dls_error *err)
{
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
    DLS_FREED char *path = dls_alloc(room);
    DLS_FREED char *text = NULL;
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
    } else if (dls_past_mark(text) != text) {
        why = "\": it begins with a byte order mark, which only the including file may";
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

/* ---- the tree -------------------------------------------------------------------------------- */

dls_status dls_config_folder(const char *path, char **out, dls_error *err)
{
    DLS_FREED char *copy = dls_strdup(path ? path : ".");
    *out = copy ? dls_strdup(dirname(copy)) : NULL;
    return *out ? DLS_OK : dls_nomem(err, "configuration", path ? strlen(path) : 2);
}

/* libconfig names an included file as the directive does, and the main one not at all. */
static const char *file_line(const char *included, unsigned line, const dls_config_source *from,
                             char *buf, size_t n)
{
    const bool below = included && strcmp(from->folder, ".") != 0;
    snprintf(buf, n, "%s%s%s:%u", below ? from->folder : "", below ? "/" : "",
             included ? included : from->path, line);
    return buf;
}

bool dls_config_tree_read(config_t *tree, const char *text, size_t len,
                          const dls_config_source *from, dls_problems *problems)
{
    DLS_IN_C_LOCALE; /* libconfig leaves the process's own behind */
    len -= (size_t)(dls_past_mark(text) - text);
    text = dls_past_mark(text);
    scan s = {from->path, from->folder, text, 1, 0, true, problems};
    scan_text(&s, text, len);
    if (!s.good) {
        return false;
    }
    config_set_auto_convert(tree, CONFIG_FALSE);
    config_set_include_dir(tree, from->folder);
    if (config_read_string(tree, text) == CONFIG_TRUE) {
        return true;
    }
    char where[DLS_PLACE_BYTES];
    file_line(config_error_file(tree), (unsigned)config_error_line(tree), from, where,
              sizeof where);
    dls_problems_add(problems, where, "%s", config_error_text(tree));
    return false;
}

const char *dls_config_place(const config_setting_t *setting, const dls_config_source *from,
                             char *buf, size_t n)
{
    return file_line(config_setting_source_file(setting), config_setting_source_line(setting), from,
                     buf, n);
}

const char *dls_config_type_name(const config_setting_t *setting)
{
    static const char *const names[] = {
        [CONFIG_TYPE_NONE] = "nothing",       [CONFIG_TYPE_GROUP] = "a group",
        [CONFIG_TYPE_INT] = "an integer",     [CONFIG_TYPE_INT64] = "an integer",
        [CONFIG_TYPE_FLOAT] = "a number",     [CONFIG_TYPE_STRING] = "text",
        [CONFIG_TYPE_BOOL] = "true or false", [CONFIG_TYPE_ARRAY] = "a list",
        [CONFIG_TYPE_LIST] = "a list"};
    return names[config_setting_type(setting)];
}

const char *dls_config_scalar(const config_setting_t *setting, char *buf, size_t n)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
        snprintf(buf, n, "%d", config_setting_get_int(setting));
        return buf;
    case CONFIG_TYPE_INT64:
        snprintf(buf, n, "%lld", config_setting_get_int64(setting));
        return buf;
    case CONFIG_TYPE_FLOAT:
        return dls_units_number(config_setting_get_float(setting), buf, n);
    case CONFIG_TYPE_STRING:
        return config_setting_get_string(setting);
    case CONFIG_TYPE_BOOL:
        return config_setting_get_bool(setting) ? "true" : "false";
    default:
        return NULL;
    }
}

const char *dls_config_scalars(const config_setting_t *list, char *buf, size_t n)
{
    const int type = config_setting_type(list);
    if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
        return NULL;
    }
    size_t len = 0;
    buf[0] = '\0';
    for (int i = 0; i < config_setting_length(list); i++) {
        char number[48];
        const char *item =
            dls_config_scalar(config_setting_get_elem(list, (unsigned)i), number, sizeof number);
        if (!item || len + strlen(item) + 2 > n) {
            return NULL;
        }
        len += (size_t)snprintf(buf + len, n - len, "%s%s", i > 0 ? "," : "", item);
    }
    return buf;
}
