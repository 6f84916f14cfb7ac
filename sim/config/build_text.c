/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Texts and paths of a configuration.
 */
#include "base/alloc.h"
#include "config/build.h"
#include "traces/assign.h"

#include <stdio.h>
#include <string.h>

const char *dls_build_where(const dls_builder *b, int key)
{
    return b->s->value[key].where ? b->s->value[key].where : b->file;
}

const char *dls_build_keep(dls_config *config, char *text, dls_error *err)
{
    if (!text || dls_grow(&config->kept, &config->kept_cap, config->n_kept + 1,
                          sizeof *config->kept, err) != DLS_OK) {
        dls_free(text);
        (void)dls_nomem(err, "configuration", 0);
        return NULL;
    }
    config->kept[config->n_kept++] = text;
    return text;
}

dls_status dls_build_copy(const dls_builder *b, int key, char **out, dls_error *err)
{
    *out = dls_strdup(b->s->value[key].s);
    return *out ? DLS_OK : dls_nomem(err, "configuration", strlen(b->s->value[key].s));
}

/* The configuration names this file; the path is released if that cannot be noted. */
static dls_status note_file(dls_config *config, char **path, dls_error *err)
{
    for (size_t i = 0; i < config->n_files; i++) {
        if (strcmp(config->files[i], *path) == 0) {
            return DLS_OK;
        }
    }
    dls_status status = dls_grow(&config->files, &config->files_cap, config->n_files + 1,
                                 sizeof *config->files, err);
    if (status == DLS_OK) {
        char *name = dls_strdup(*path);
        status = name ? DLS_OK : dls_nomem(err, "configuration", strlen(*path));
        config->files[config->n_files] = name;
        config->n_files += name != NULL;
    }
    if (status != DLS_OK) {
        dls_free(*path);
        *path = NULL;
    }
    return status;
}

dls_status dls_build_resolve(const dls_builder *b, const char *text, const char *where, char **out,
                             dls_error *err)
{
    /* "a/b.cfg:12"; what stands in no file has no colon */
    const char *colon = where ? strrchr(where, ':') : NULL;
    size_t len = colon ? (size_t)(colon - where) : 0;
    while (len > 0 && where[len - 1] != '/') {
        len--;
    }
    if (*text == '/' || strcmp(text, "-") == 0) {
        len = 0;
    }
    const size_t n = len + strlen(text) + 1;
    *out = dls_alloc(n);
    if (!*out) {
        return dls_nomem(err, "configuration", n);
    }
    snprintf(*out, n, "%.*s%s", (int)len, len > 0 ? where : "", text);
    return note_file(b->config, out, err);
}

dls_status dls_build_path(const dls_builder *b, int key, char **out, dls_error *err)
{
    const dls_setting *value = &b->s->value[key];
    if (!*value->s || (key == DLS_CFG_TRACE_ASSIGN && dls_assign_builtin_text(value->s))) {
        return dls_build_copy(b, key, out, err);
    }
    return dls_build_resolve(b, value->s, value->where, out, err);
}
