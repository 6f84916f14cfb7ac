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

dls_status dls_build_path(const dls_builder *b, int key, char **out, dls_error *err)
{
    const dls_setting *value = &b->s->value[key];
    const bool from_file = value->where && strchr(value->where, ':');
    if (!from_file || !*value->s || *value->s == '/' || strcmp(value->s, "-") == 0 ||
        strcmp(b->folder, ".") == 0 ||
        (key == DLS_CFG_TRACE_ASSIGN && dls_assign_builtin_text(value->s))) {
        return dls_build_copy(b, key, out, err);
    }
    const size_t n = strlen(b->folder) + strlen(value->s) + 2;
    *out = dls_alloc(n);
    if (!*out) {
        return dls_nomem(err, "configuration", n);
    }
    snprintf(*out, n, "%s/%s", b->folder, value->s);
    return DLS_OK;
}
