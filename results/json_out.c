/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Summaries as JSON, by the field tables of the results schema.
 */
#include "results/json_out.h"

#include <inttypes.h>
#include <string.h>

static json_object *field_json(const dls_field *f, const void *base)
{
    const char *p = (const char *)base + f->offset;
    switch (f->type) {
    case DLS_FIELD_I64: {
        int64_t value;
        memcpy(&value, p, sizeof value);
        return json_object_new_int64(value);
    }
    case DLS_FIELD_U64: {
        uint64_t value;
        memcpy(&value, p, sizeof value);
        return json_object_new_uint64(value);
    }
    case DLS_FIELD_F64: {
        double value;
        memcpy(&value, p, sizeof value);
        return dls_json_number(value);
    }
    case DLS_FIELD_BOOL:
        return json_object_new_boolean(*p != 0);
    case DLS_FIELD_KIND: {
        dls_part_kind value;
        memcpy(&value, p, sizeof value);
        return json_object_new_string(dls_part_kind_name(value));
    }
    case DLS_FIELD_TEXT:
        return dls_json_utf8(p);
    default:
        return NULL; /* no struct that is printed has the other types */
    }
}

void dls_json_add_fields(json_object *to, const dls_field *fields, size_t n, const void *base)
{
    for (size_t i = 0; i < n; i++) {
        json_object_object_add(to, fields[i].name, field_json(&fields[i], base));
    }
}

json_object *dls_json_summary(const dls_summary *s)
{
    json_object *obj = json_object_new_object(), *parts = json_object_new_array();
    if (!obj || !parts) {
        json_object_put(obj);
        json_object_put(parts);
        return NULL;
    }
    const uint64_t digests[] = {s->digest, s->history_digest};
    static const char *const names[] = {"digest", "history_digest"};
    for (int i = 0; i < 2; i++) {
        char text[17];
        snprintf(text, sizeof text, "%016" PRIx64, digests[i]);
        json_object_object_add(obj, names[i], json_object_new_string(text));
    }
    dls_json_add_fields(obj, dls_summary_fields, dls_summary_n_fields, s);
    for (int k = 0; k < DLS_SUMMARY_GROUPS; k++) {
        const dls_summary_group *g = &dls_summary_groups[k];
        const void *values = dls_summary_group_of(s, k);
        if (values) {
            json_object *group = json_object_new_object();
            dls_json_add_fields(group, g->fields, g->n_fields, values);
            json_object_object_add(obj, g->name, group);
        }
    }
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        json_object *part = json_object_new_object();
        if (part && s->part[p].jobs > 0) {
            dls_json_add_fields(part, dls_part_fields, dls_part_n_fields, &s->part[p]);
            json_object_array_add(parts, part);
        } else {
            json_object_put(part);
        }
    }
    json_object_object_add(obj, "parts", parts);
    return obj;
}

dls_status dls_summary_json(FILE *out, const dls_summary *s, dls_error *err)
{
    return dls_json_print(out, dls_json_summary(s), err);
}
