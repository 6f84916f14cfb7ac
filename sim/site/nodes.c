/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes of a site.
 */
#include "site/nodes.h"

#include "base/alloc.h"
#include "base/file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 47 }; /* of a group or type in a configuration */

/* What a configuration takes between quotes as a name. */
static bool is_name(const char *text)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == '"' || text[i] == '\\') {
            return false;
        }
    }
    return len <= NAME_BYTES;
}

static bool alike(const dls_site_group *a, const dls_site_group *b)
{
    return a->gpus == b->gpus && a->cpus == b->cpus && a->mem_mib == b->mem_mib &&
           strcmp(a->type, b->type) == 0;
}

dls_status dls_site_nodes_add(dls_site_nodes *all, const dls_site_group *node, dls_error *err)
{
    all->cpus += (double)node->cpus;
    all->total++;
    if (node->gpus == 0) {
        all->without++;
        return DLS_OK;
    }
    all->total_gpus += node->gpus;
    if (!is_name(node->type)) {
        return dls_fail(err, DLS_EINPUT, node->name,
                        "GPU type '%s': expected at most %d bytes, no quotes", node->type,
                        NAME_BYTES);
    }
    dls_site_group *last = all->n > 0 ? &all->group[all->n - 1] : NULL;
    if (last && alike(last, node) && last->rack == node->rack) {
        last->count++;
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&all->group, &all->cap, all->n + 1, sizeof *all->group, err));
    all->group[all->n++] = *node;
    return DLS_OK;
}

void dls_site_nodes_join(dls_site_nodes *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const dls_site_group *g = &all->group[i];
        dls_site_group *last = n > 0 ? &all->group[n - 1] : NULL;
        const int32_t size = last ? (last->rack_size > 0 ? last->rack_size : last->count) : 0;
        if (last && alike(last, g) && last->rack > 0 && g->rack > 0 && last->count % size == 0 &&
            g->count <= size) {
            last->count += g->count;
            last->rack_size = size;
        } else {
            all->group[n++] = *g;
        }
    }
    all->n = n;
}

int32_t dls_site_nodes_racks(const dls_site_nodes *all)
{
    int32_t racks = 0;
    for (size_t i = 0; i < all->n; i++) {
        const dls_site_group *g = &all->group[i];
        racks += g->rack == 0 ? 0 : g->rack_size > 0 ? (g->count - 1) / g->rack_size + 1 : 1;
    }
    return racks;
}

void dls_site_nodes_fini(dls_site_nodes *all)
{
    dls_free(all->group);
    *all = (dls_site_nodes){0};
}

void dls_site_value_of(const char *line, const char *key, char *out, size_t size)
{
    const size_t len = strlen(key);
    out[0] = '\0';
    for (const char *p = strstr(line, key); p; p = strstr(p + 1, key)) {
        if ((p == line || p[-1] == ' ') && p[len] == '=') {
            snprintf(out, size, "%.*s", (int)strcspn(p + len + 1, " \r\n"), p + len + 1);
            return;
        }
    }
}

static const char *type_of(const dls_site_group *g)
{
    return g->type[0] ? g->type : "GPU";
}

/* The name of group i, or one like it that is short enough, has no quotes and is nobody else's. */
static void name_group(const dls_site_nodes *all, size_t i, char *out, size_t size)
{
    const char *name = all->group[i].name;
    bool good = is_name(name) && !strchr(name, '~');
    for (size_t k = 0; k < i && good; k++) {
        good = strcmp(name, all->group[k].name) != 0;
    }
    if (good) {
        snprintf(out, size, "%.*s", NAME_BYTES, name);
        return;
    }
    snprintf(out, size, "%.36s~%u", name, (unsigned)i); /* ten digits at most: it fits */
    for (char *c = out; *c; c++) {
        *c = *c <= ' ' || *c > '~' || *c == '"' || *c == '\\' ? '_' : *c;
    }
}

void dls_site_nodes_put(const dls_site_nodes *all, const char *from, FILE *cfg)
{
    fprintf(cfg,
            "# Made by `dlsim import %s`.\nschema_version = 1;\nname = \"site\";\n\ncluster:\n{\n"
            "    gpu_types = (",
            from);
    for (size_t i = 0, told = 0; i < all->n; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++) {
            again = again || strcasecmp(type_of(&all->group[k]), type_of(&all->group[i])) == 0;
        }
        if (!again) {
            fprintf(cfg, "%s{ name = \"%s\"; }", told++ ? ", " : "", type_of(&all->group[i]));
        }
    }
    fputs(");\n    nodes = (\n", cfg);
    for (size_t i = 0; i < all->n; i++) {
        const dls_site_group *g = &all->group[i];
        char memory[48] = "", rack[48] = "", name[NAME_BYTES + 1];
        name_group(all, i, name, sizeof name);
        if (g->mem_mib > 0) {
            snprintf(memory, sizeof memory, " memory = \"%lld MiB\";", (long long)g->mem_mib);
        }
        if (g->rack_size > 0) {
            snprintf(rack, sizeof rack, " rack_size = %d;", (int)g->rack_size);
        }
        fprintf(cfg,
                "        { name = \"%s\"; count = %d; gpus = %d; gpu_type = \"%s\"; cpus = %lld;%s%s "
                "}%s\n",
                name, (int)g->count, (int)g->gpus, type_of(g), (long long)g->cpus, memory, rack,
                i + 1 < all->n ? "," : "");
    }
    fputs("    );\n};\n\ntrace: { path = \"trace.csv\"; };\n", cfg);
}

dls_status dls_site_path(const char *folder, const char *name, const char *const reads[], size_t n, char *out, size_t size,
                         dls_error *err)
{
    const int len = snprintf(out, size, "%s/%s", folder, name);
    for (size_t i = 0; i < n; i++) {
        if (reads[i] && dls_file_same(out, reads[i])) {
            return dls_fail(err, DLS_EOUTPUT, out, "is also an input: it would be replaced");
        }
    }
    return len > 0 && (size_t)len < size ? DLS_OK : dls_fail(err, DLS_EINPUT, folder, "too long a path");
}
