/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Summaries as JSON, by the field tables of the results schema.
 */
#include "results/json_out.h"

#include <inttypes.h>

static void add_field(json_object *to, const dls_field *f, const void *base)
{
    const void *at = (const char *)base + f->offset;
    switch (f->type) {
    case DLS_FIELD_I64:
    case DLS_FIELD_U64: /* counts */
        dls_json_int(to, f->name, *(const int64_t *)at);
        break;
    case DLS_FIELD_F64:
        dls_json_real(to, f->name, *(const double *)at);
        break;
    case DLS_FIELD_BOOL:
        dls_json_bool(to, f->name, *(const bool *)at);
        break;
    case DLS_FIELD_KIND:
        dls_json_text(to, f->name, dls_part_kind_name(*(const dls_part_kind *)at));
        break;
    case DLS_FIELD_TEXT:
        dls_json_text(to, f->name, at);
        break;
    default: /* no struct that is printed has the other types */
        break;
    }
}

static void add_fields(json_object *to, const dls_summary_group *group, const void *base)
{
    for (size_t i = 0; i < group->n_fields; i++) {
        add_field(to, &group->fields[i], base);
    }
}

void dls_json_summary(json_object *to, const dls_summary *s)
{
    char digest[17], history[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, s->digest);
    snprintf(history, sizeof history, "%016" PRIx64, s->history_digest);
    dls_json_text(to, "digest", digest);
    dls_json_text(to, "history_digest", history);
    add_fields(to, &dls_summary_groups[DLS_GROUP_RUN], s);
    for (int k = DLS_GROUP_WORLD; k < DLS_SUMMARY_GROUPS; k++) {
        const dls_summary_group *g = &dls_summary_groups[k];
        const void *values = dls_summary_group_of(s, k);
        if (values) {
            add_fields(dls_json_object(to, g->name), g, values);
        }
    }
    json_object *parts = dls_json_list(to, "parts");
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        if (s->part[p].jobs > 0) {
            add_fields(dls_json_next(parts), &dls_summary_groups[DLS_GROUP_JOBS], &s->part[p]);
        }
    }
}

dls_status dls_summary_json(FILE *out, const dls_summary *s, dls_error *err)
{
    json_object *top = json_object_new_object();
    dls_json_summary(top, s);
    return dls_json_print(out, top, err);
}
