/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes the table of Slurm's partitions.
 */
#include "site/slurm_partitions.h"

#include "base/file.h"
#include "base/own.h"
#include "traces/date.h"

#include <stdlib.h>
#include <string.h>

void dls_site_partitions_fini(dls_site_partitions *p)
{
    dls_strdict_fini(&p->lists);
    dls_strdict_fini(&p->names);
    DLS_FREE_ALL(p->list, p->scontrol);
}

dls_status dls_site_partitions_read(dls_site_partitions *p, const char *path, dls_error *err)
{
    size_t len;
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_CONFIG, &p->scontrol, &len, err));
    return strstr(p->scontrol, "PartitionName=")
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, path,
                          "no partition in it: is it the output of `scontrol show partitions -o`?");
}

dls_status dls_site_partitions_add(dls_site_partitions *p, const char *list, dls_error *err)
{
    int32_t code;
    for (const char *name = list; *name; name += strcspn(name, ","), name += *name == ',') {
        const size_t length = strcspn(name, ",");
        if (length == 0 || length > 63) {
            return dls_fail(err, DLS_EINPUT, NULL,
                            "Partitions=%.200s: a name of %zu bytes, not 1 to 63", list, length);
        }
        DLS_TRY(dls_strdict_put(&p->names, name, length, &code, err));
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

/* What scontrol prints of a partition: "PartitionName=gpu ... PriorityTier=10 ..."; the value
 * behind " key=", `none` where it is not there. */
static void value_in(const char *text, const char *name, const char *key, const char *none,
                     char *out, size_t size)
{
    char want[160];
    snprintf(want, sizeof want, "PartitionName=%.100s ", name);
    const char *line = text ? strstr(text, want) : NULL;
    snprintf(want, sizeof want, " %s=", key);
    const char *value = line ? strstr(line, want) : NULL;
    if (!value || value > line + strcspn(line, "\n")) {
        snprintf(out, size, "%s", none);
        return;
    }
    value += strlen(want);
    snprintf(out, size, "%.*s", (int)strcspn(value, " \r\n"), value);
}

/* 0: none. */
static double limit_in(const char *text, const char *name, const char *key)
{
    char value[64];
    double seconds;
    value_in(text, name, key, "NONE", value, sizeof value);
    return dls_date_span(value, &seconds) ? seconds : 0;
}

/* MaxTime, or the longest limit that a job of the partition had and yet ran: it was another then,
 * or the job's QoS lets it (PartitionTimeLimit). over: how many did. */
static double most_in(const char *text, const char *name, const dls_trace *trace, size_t *over)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    const double most_s = limit_in(text, name, "MaxTime");
    int64_t longest_us = (int64_t)(1e6 * most_s);
    for (size_t j = 0; j < c->n && most_s > 0 && c->limit_us; j++) {
        if (c->limit_us[j] > (int64_t)(1e6 * most_s) && c->vc[j] >= 0 &&
            strcmp(dls_trace_vc(trace, c->vc[j]), name) == 0) {
            ++*over;
            longest_us = c->limit_us[j] > longest_us ? c->limit_us[j] : longest_us;
        }
    }
    return 1e-6 * (double)longest_us;
}

static void put_limit(double seconds, FILE *out)
{
    if (seconds > 0) {
        fprintf(out, "%.15g", seconds);
    }
    putc(',', out);
}

static double factor_in(const char *text, const char *name)
{
    char value[64];
    value_in(text, name, "PriorityJobFactor", "1", value, sizeof value);
    return strtod(value, NULL);
}

static void put_one(const dls_site_partitions *p, const char *text, const char *name,
                    double highest, double most_s, FILE *out)
{
    char tier[64];
    const double default_s = limit_in(text, name, "DefaultTime");
    value_in(text, name, "PriorityTier", "1", tier, sizeof tier);
    for (size_t first = 0, last; first < p->n; first = last + 1) {
        for (last = first; last < p->n && has(dls_strdict_get(&p->lists, p->list[last]), name);) {
            last++;
        }
        if (last > first) {
            fprintf(out, "%s,%ld,%.6g,", name, strtol(tier, NULL, 10),
                    highest > 0 ? factor_in(text, name) / highest : 0);
            put_limit(default_s > 0 ? default_s : most_s, out);
            put_limit(most_s, out);
            fprintf(out, "%zu,%zu\n", first, last - 1);
        }
    }
}

void dls_site_partitions_put(const dls_site_partitions *p, const dls_trace *trace, FILE *out,
                             FILE *to)
{
    const char *text = p->scontrol;
    fputs("partition,tier,factor,limit,most,first,last\n", out);
    double highest = 0;
    size_t over = 0;
    for (int32_t i = 0; i < (int32_t)p->names.n; i++) {
        const double factor = factor_in(text, dls_strdict_get(&p->names, i));
        highest = factor > highest ? factor : highest;
    }
    for (int32_t i = 0; i < (int32_t)p->names.n; i++) {
        const char *name = dls_strdict_get(&p->names, i);
        put_one(p, text, name, highest, most_in(text, name, trace, &over), out);
    }
    if (over > 0) {
        fprintf(to,
                "  jobs that ran with a longer limit than MaxTime of their partition, which is "
                "raised to it: %zu\n",
                over);
    }
}
