/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The values of the schema's keys, each with the place that it came from.
 */
#ifndef DLS_CONFIG_SETTINGS_H
#define DLS_CONFIG_SETTINGS_H

#include "config/problems.h"
#include "config/schema.h"

#include <stdint.h>

typedef struct dls_setting {
    bool given; /* not the default */
    bool bad;   /* given, but wrong: a problem has been reported, the value is the default's */
    bool b;
    int64_t i;
    double f;    /* base unit; also the number of an INT */
    char *s;     /* owned; STRING and CHOICE */
    char *where; /* owned; NULL: default */
} dls_setting;

/* An option of a policy, not yet checked: which policy it is for is only known at the end. */
typedef struct dls_extra {
    int group;                 /* DLS_CFG_SCHEDULER or DLS_CFG_PLACEMENT */
    char *name, *text, *where; /* owned */
    bool override;             /* not from the file */
} dls_extra;

#define DLS_EXTRAS_MAX 256

typedef struct dls_setting_list {
    dls_setting *field; /* [n * dls_schema_n_fields] */
    size_t n, cap;
    char **where; /* [n] owned: place of each element */
    size_t where_cap;
    bool bad; /* given, but not a list of groups: reported */
} dls_setting_list;

typedef struct dls_settings {
    dls_setting value[DLS_CFG_COUNT];     /* keys outside lists */
    dls_setting_list list[DLS_CFG_COUNT]; /* those of type LIST */
    dls_extra *extra;
    size_t n_extra, extra_cap;
} dls_settings;

/* All defaults. */
dls_status dls_settings_init(dls_settings *s, dls_error *err) DLS_MUST_CHECK;
void dls_settings_fini(dls_settings *s);

/* A key of element idx of its list; idx is ignored for a key outside lists. */
const dls_setting *dls_settings_get(const dls_settings *s, int key, size_t idx);

/* Append an element with default fields to a list. */
dls_status dls_settings_append(dls_settings *s, int list, const char *where,
                               dls_error *err) DLS_MUST_CHECK;

/* Set a key from text. A value that will not do is a problem and leaves the default; the status is
 * that of the memory. */
dls_status dls_settings_put(dls_settings *s, int key, size_t idx, const char *text,
                            const char *where, dls_problems *problems,
                            dls_error *err) DLS_MUST_CHECK;
/* A value of the wrong kind was given: the key is not missing. */
void dls_settings_mark_bad(dls_settings *s, int key, size_t idx);
/* An option of a policy; of several with the same name the last one counts. */
dls_status dls_settings_put_extra(dls_settings *s, int group, const char *name, const char *text,
                                  const char *where, bool override, dls_problems *problems,
                                  dls_error *err) DLS_MUST_CHECK;
/* "cluster.nodes[2].count=64" and the like: any path, options of policies included. */
dls_status dls_settings_override(dls_settings *s, const char *path, const char *text,
                                 const char *where, dls_problems *problems,
                                 dls_error *err) DLS_MUST_CHECK;
/* Report every key that must be given and is not. */
void dls_settings_check_required(const dls_settings *s, const char *file, dls_problems *problems);

/* The path as a person writes it: "cluster.nodes[2].count". Returns buf. */
const char *dls_settings_path(int key, size_t idx, char *buf, size_t n);

#endif
