/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads topology.conf and gres.conf.
 *
 *      SwitchName=leaf1 Nodes=n[01-18]               a rack
 *      BlockName=block1 Nodes=n[01-18]               a rack
 *      SwitchName=spine Switches=leaf[1-4]           not needed
 *      NodeName=n[01-18] Name=gpu Type=a100 File=..  a type of GPU
 *
 * What may be changed here: which words are read. tests/cli/site_topology.sh guards it.
 */
#include "site/slurm_topology.h"

#include "base/file.h"
#include "base/own.h"
#include "site/node_list.h"

#include <string.h>
#include <strings.h>

enum { SEVERAL = -2 };

void dls_site_topology_fini(dls_site_topology *t)
{
    dls_strdict_fini(&t->names);
    dls_strdict_fini(&t->types);
    dls_free(t->place);
}

/* The value of a word, whatever its case; NULL: there is none. It is cut off. */
static char *value_of(char *const *word, size_t n, const char *key)
{
    const size_t len = strlen(key);
    for (size_t i = 0; i < n; i++) {
        if (strncasecmp(word[i], key, len) == 0 && word[i][len] == '=') {
            return word[i] + len + 1;
        }
    }
    return NULL;
}

typedef struct marking {
    dls_site_topology *t;
    int32_t rack; /* 0: a type */
    int32_t type;
} marking;

static dls_status mark(void *user, const char *name, dls_error *err)
{
    const marking *m = user;
    dls_site_topology *t = m->t;
    int32_t code;
    const size_t known = t->names.n;
    if (!*name) {
        return DLS_OK;
    }
    DLS_TRY(dls_strdict_put(&t->names, name, strlen(name), &code, err));
    DLS_TRY(dls_grow(&t->place, &t->cap, t->names.n, sizeof *t->place, err));
    dls_site_place *p = &t->place[code];
    if ((size_t)code == known) {
        *p = (dls_site_place){.type = -1};
    }
    if (m->rack > 0) {
        t->again += p->rack > 0;
        p->rack = p->rack > 0 ? p->rack : m->rack;
    } else {
        p->type = p->type == -1 || p->type == m->type ? m->type : SEVERAL;
    }
    return DLS_OK;
}

/* A line of topology.conf; *odd: it is none. */
static dls_status read_switch(dls_site_topology *t, char *const *word, size_t n, bool *odd,
                              dls_error *err)
{
    const char *nodes = value_of(word, n, "Nodes");
    const bool named = value_of(word, n, "SwitchName") || value_of(word, n, "BlockName");
    *odd = !named && !value_of(word, n, "BlockSizes");
    if (!named || !nodes || value_of(word, n, "Switches")) {
        return DLS_OK;
    }
    t->racks++;
    return dls_site_node_list(nodes, mark, &(marking){.t = t, .rack = t->racks}, err);
}

static dls_status read_gres(dls_site_topology *t, char *const *word, size_t n, bool *odd,
                            dls_error *err)
{
    const char *name = value_of(word, n, "Name"), *type = value_of(word, n, "Type"),
               *nodes = value_of(word, n, "NodeName");
    marking m = {.t = t};
    *odd = !name && !value_of(word, n, "AutoDetect");
    if (!name || strcasecmp(name, "gpu") != 0 || !type) {
        return DLS_OK;
    }
    DLS_TRY(dls_strdict_put(&t->types, type, strlen(type), &m.type, err));
    if (nodes) {
        return dls_site_node_list(nodes, mark, &m, err);
    }
    t->all_type = t->all_type == -1 || t->all_type == m.type ? m.type : SEVERAL;
    return DLS_OK;
}

/* Cuts the next line off, those behind a backslash with it, and its comment; *number: where the one after it begins. */
static char *next_line(char **rest, int32_t *number)
{
    char *line = *rest, *at = line;
    for (; *at && *at != '\n'; at++) {
        if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
            *at++ = ' ';
            at += *at == '\r';
            *at = ' ';
            ++*number;
        }
    }
    ++*number;
    *rest = *at ? at + 1 : at;
    *at = '\0';
    line[strcspn(line, "#")] = '\0';
    return line;
}

/* what: the file should be. */
static dls_status read_file(dls_site_topology *t, const char *path, const char *what,
                            dls_status (*one)(dls_site_topology *t, char *const *word, size_t n,
                                              bool *odd, dls_error *err),
                            dls_error *err)
{
    DLS_FREED char *text = NULL;
    char *rest, *save;
    size_t len;
    int32_t number = 1;
    bool any = false;
    const int32_t odd_before = t->odd;
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_TABLE, &text, &len, err));
    rest = text;
    while (*rest) {
        char *word[32];
        size_t n = 0;
        bool odd = false;
        const int32_t at = number;
        for (char *w = strtok_r(next_line(&rest, &number), " \t\r", &save); w && n < 32;
             w = strtok_r(NULL, " \t\r", &save)) {
            word[n++] = w;
        }
        if (n > 0) {
            DLS_TRY(one(t, word, n, &odd, err));
            any = any || !odd;
        }
        if (odd && t->odd++ == 0) {
            t->first_odd = at;
            t->odd_file = path;
        }
    }
    return any || t->odd == odd_before
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, path, "no line in it is one of %s", what);
}

dls_status dls_site_topology_read(dls_site_topology *t, const char *topology, const char *gres,
                                  dls_error *err)
{
    if (topology) {
        DLS_TRY(read_file(t, topology, "topology.conf", read_switch, err));
    }
    return gres ? read_file(t, gres, "gres.conf", read_gres, err) : DLS_OK;
}

void dls_site_topology_place(dls_site_topology *t, dls_site_group *node)
{
    const int32_t code = dls_strdict_find(&t->names, node->name, strlen(node->name));
    int32_t type = t->all_type;
    if (node->gpus == 0) {
        return;
    }
    if (code >= 0) {
        t->place[code].seen = true;
        node->rack = t->place[code].rack;
        type = t->place[code].type != -1 ? t->place[code].type : type;
    }
    t->without += t->racks > 0 && node->rack == 0;
    if (!node->type[0] && type >= 0) {
        snprintf(node->type, sizeof node->type, "%s", dls_strdict_get(&t->types, type));
    }
}

void dls_site_topology_report(const dls_site_topology *t, const dls_site_nodes *nodes, FILE *to)
{
    int32_t gone = 0;
    for (size_t i = 0; i < t->names.n; i++) {
        gone += !t->place[i].seen;
    }
    if (t->racks > 0) {
        const int32_t made = dls_site_nodes_racks(nodes);
        fprintf(to, "  racks: %d, of %d switches", (int)made, (int)t->racks);
        fprintf(to, made > t->racks ? "; nodes of a switch that do not follow each other or differ are in several\n" : "\n");
    }
    if (t->without > 0) {
        fprintf(to, "  nodes behind no switch: %d\n", (int)t->without);
    }
    if (t->again > 0) {
        fprintf(to, "  nodes behind two switches: %d, in the first's rack\n", (int)t->again);
    }
    if (gone > 0) {
        fprintf(to, "  nodes of topology.conf and gres.conf with no GPU in the list of nodes: %d\n", (int)gone);
    }
    if (t->odd > 0) {
        fprintf(to, "  lines that were not understood: %d, the first %s:%d\n", (int)t->odd, t->odd_file,
                (int)t->first_odd);
    }
}
