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

dls_status dls_build_resolve(const char *text, const char *where, char **out, dls_error *err)
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
    return DLS_OK;
}

dls_status dls_build_path(const dls_builder *b, int key, char **out, dls_error *err)
{
    const dls_setting *value = &b->s->value[key];
    if (!*value->s || (key == DLS_CFG_TRACE_ASSIGN && dls_assign_builtin_text(value->s))) {
        return dls_build_copy(b, key, out, err);
    }
    return dls_build_resolve(value->s, value->where, out, err);
}
