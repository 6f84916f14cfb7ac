/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The values of the schema's keys, each with the place that it came from.
 */
#ifndef DLS_CONFIG_SETTINGS_H
#define DLS_CONFIG_SETTINGS_H

#include "config/problems.h"
#include "config/schema.h"

/* Texts are the settings'. */
typedef struct dls_setting {
    bool given; /* not the default */
    bool bad;   /* given, but wrong: a problem has been reported, the value is the default's */
    const char *where; /* "file:line", "--set"; NULL: default */
    dls_option_value v;
} dls_setting;

/* An option of a policy, not yet checked: which policy it is for is only known at the end. */
typedef struct dls_extra {
    int group; /* DLS_CFG_SCHEDULER or DLS_CFG_PLACEMENT */
    const char *name, *text, *where;
    bool override; /* not from the file */
} dls_extra;

#define DLS_EXTRAS_MAX 256

typedef struct dls_setting_list {
    dls_setting *field; /* [n * (1 + dls_schema_n_fields)]: an element as a whole, then its keys */
    size_t n, cap;
    bool bad; /* given, but not a list of groups: reported */
} dls_setting_list;

typedef struct dls_settings {
    dls_setting value[DLS_CFG_COUNT];     /* keys outside lists */
    dls_setting_list list[DLS_CFG_COUNT]; /* those of type LIST */
    dls_extra *extra;
    size_t n_extra, extra_cap;
    char **kept; /* all texts */
    size_t n_kept, kept_cap;
} dls_settings;

/* All defaults. */
dls_status dls_settings_init(dls_settings *s, dls_error *err) DLS_MUST_CHECK;
void dls_settings_fini(dls_settings *s);

/* A key of element idx of its list, the element as a whole for the list itself; idx is ignored for
 * a key outside lists. */
const dls_setting *dls_settings_get(const dls_settings *s, int key, size_t idx);

/* A copy that lives as long as the settings, its first `len` bytes; NULL without memory. */
const char *dls_settings_keep(dls_settings *s, const char *text, size_t len, dls_error *err);
/* The same for a path written at `where`: it is relative to the folder of the file that it is
 * written in, which may be a sweep's; one from the command line to the current folder. */
const char *dls_settings_path(dls_settings *s, const char *path, const char *where, dls_error *err);

/* Append an element with default fields to a list. */
dls_status dls_settings_append(dls_settings *s, int list, const char *where,
                               dls_error *err) DLS_MUST_CHECK;
/* Set a key from text; paths are resolved. A value that will not do is a problem and leaves the
 * default; the status is that of the memory. */
dls_status dls_settings_put(dls_settings *s, int key, size_t idx, const char *text,
                            const char *where, dls_problems *problems,
                            dls_error *err) DLS_MUST_CHECK;
/* A value of the wrong kind was given: the key is not missing. */
void dls_settings_mark_bad(dls_settings *s, int key, size_t idx);
/* An option of a policy; of several with the same name the last one counts. */
dls_status dls_settings_put_extra(dls_settings *s, int group, const char *name, const char *text,
                                  const char *where, bool override, dls_problems *problems,
                                  dls_error *err) DLS_MUST_CHECK;
/* "cluster.nodes[2].count=64" and the like: any path, options of policies included. The element behind the
 * last of a list is added. */
dls_status dls_settings_override(dls_settings *s, const char *path, const char *text,
                                 const char *where, dls_problems *problems,
                                 dls_error *err) DLS_MUST_CHECK;
/* Report every key that must be given and is not. */
void dls_settings_check_required(const dls_settings *s, const char *file, dls_problems *problems);

/* The key as a person writes it: "cluster.nodes[2].count". Returns buf. */
const char *dls_settings_name(int key, size_t idx, char *buf, size_t n);
/* "cluster.nodes[2].count" to "cluster.nodes[].count" and 2 (0 without brackets); false if the
 * brackets are wrong, or buf is too small. */
bool dls_settings_plain(const char *name, char *buf, size_t n, size_t *idx);

/* A file may stand in a value behind a prefix, or not at all: "replay:FILE", a built-in table. The
 * part of the value of a PATH key that names it; NULL: none. */
const char *dls_settings_file(int key, const char *value);

#endif
