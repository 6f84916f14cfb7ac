/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes the table of Slurm's partitions.
 */
#include "site/slurm_partitions.h"

#include "base/alloc.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

void dls_site_partitions_init(dls_site_partitions *p)
{
    *p = (dls_site_partitions){.n = 0};
    dls_strdict_init(&p->lists);
    dls_strdict_init(&p->names);
}

void dls_site_partitions_fini(dls_site_partitions *p)
{
    dls_strdict_fini(&p->lists);
    dls_strdict_fini(&p->names);
    dls_free(p->list);
}

dls_status dls_site_partitions_add(dls_site_partitions *p, const char *list, dls_error *err)
{
    int32_t code;
    for (const char *name = list; *name; name += strcspn(name, ","), name += *name == ',') {
        DLS_TRY(dls_strdict_put(&p->names, name, strcspn(name, ","), &code, err));
    }
    DLS_TRY(dls_grow(&p->list, &p->cap, p->n + 1, sizeof *p->list, err));
    DLS_TRY(dls_strdict_put(&p->lists, list, strlen(list), &p->list[p->n], err));
    p->n++;
    return DLS_OK;
}

bool dls_site_partitions_differ(const dls_site_partitions *p)
{
    return p->lists.n > 1;
}

static bool has(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        if (strcspn(list, ",") == len && memcmp(list, name, len) == 0) {
            return true;
        }
    }
    return false;
}

/* "PartitionName=gpu ... PriorityTier=10 ..." */
static long tier_of(const char *text, const char *name)
{
    char want[160];
    snprintf(want, sizeof want, "PartitionName=%.100s ", name);
    const char *line = text ? strstr(text, want) : NULL;
    const char *tier = line ? strstr(line, " PriorityTier=") : NULL;
    return tier && tier < line + strcspn(line, "\n") ? strtol(tier + 14, NULL, 10) : 1;
}

static void put_one(const dls_site_partitions *p, const char *name, long tier, FILE *out)
{
    for (size_t first = 0, last; first < p->n; first = last + 1) {
        for (last = first; last < p->n && has(dls_strdict_get(&p->lists, p->list[last]), name);) {
            last++;
        }
        if (last > first) {
            fprintf(out, "%s,%ld,%zu,%zu\n", name, tier, first, last - 1);
        }
    }
}

dls_status dls_site_partitions_put(const dls_site_partitions *p, const char *scontrol, FILE *out,
                                   dls_error *err)
{
    char *text = NULL;
    size_t len;
    if (scontrol) {
        DLS_TRY(dls_file_read_plain(scontrol, DLS_FILE_CONFIG, &text, &len, err));
        if (!strstr(text, "PartitionName=")) {
            dls_free(text);
            return dls_fail(
                err, DLS_EINPUT, scontrol,
                "no partition in it: is it the output of `scontrol show partitions -o`?");
        }
    }
    fputs("partition,tier,first,last\n", out);
    for (int32_t i = 0; i < (int32_t)p->names.n; i++) {
        const char *name = dls_strdict_get(&p->names, i);
        put_one(p, name, tier_of(text, name), out);
    }
    dls_free(text);
    return DLS_OK;
}
