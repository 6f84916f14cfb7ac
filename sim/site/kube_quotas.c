/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quotas of Kubernetes as tables of the scheduler `fair-share`:
 *
 *      ClusterQueue, Cohort (Kueue)   --> cohorts.csv
 *      Queue (KAI)                    --> queues.csv, the eldest first, as KAI divides what is left over
 *
 * What may be changed here: which members are read. tests/cli/site_kubernetes.sh guards it.
 */
#include "site/kube_quotas.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- members --------------------------------------------------------------------------------- */

json_object *dls_kube_get(json_object *of, const char *name)
{
    json_object *out = NULL;
    return json_object_is_type(of, json_type_object) && json_object_object_get_ex(of, name, &out)
               ? out
               : NULL;
}

const char *dls_kube_text(json_object *of, const char *name)
{
    json_object *out = dls_kube_get(of, name);
    return json_object_is_type(out, json_type_string) ? json_object_get_string(out) : "";
}

json_object *dls_kube_list_of(json_object *of, const char *name, size_t *n)
{
    json_object *out = dls_kube_get(of, name);
    const bool is = json_object_is_type(out, json_type_array);
    *n = is ? json_object_array_length(out) : 0;
    return is ? out : NULL;
}

int64_t dls_kube_milli(json_object *of, const char *name)
{
    json_object *value = dls_kube_get(of, name);
    char *end;
    if (!value) {
        return 0;
    }
    const double number = strtod(json_object_get_string(value), &end);
    const double out = *end == 'm' ? number : *end == 'k' ? 1e6 * number : 1e3 * number;
    return out > 0 && out <= 1e9 ? (int64_t)(out + 0.5) : 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* A limit holds if every flavor of GPUs has one. */
static int64_t add_limit(int64_t sum, json_object *resource, const char *name)
{
    return sum >= 0 && dls_kube_get(resource, name) ? sum + dls_kube_milli(resource, name) / 1000 : -1;
}

static void add_resources(dls_kube_quota *q, json_object *groups, size_t n_groups)
{
    size_t n_flavors, n;
    for (size_t i = 0; i < n_groups; i++) {
        json_object *flavors = dls_kube_list_of(json_object_array_get_idx(groups, i), "flavors", &n_flavors);
        for (size_t k = 0; k < n_flavors; k++) {
            json_object *list = dls_kube_list_of(json_object_array_get_idx(flavors, k), "resources", &n);
            for (size_t m = 0; m < n; m++) {
                json_object *resource = json_object_array_get_idx(list, m);
                if (strcmp(dls_kube_text(resource, "name"), DLS_KUBE_GPU) == 0) {
                    q->gpus += dls_kube_milli(resource, "nominalQuota") / 1000;
                    q->borrow = add_limit(q->borrow, resource, "borrowingLimit");
                    q->lend = add_limit(q->lend, resource, "lendingLimit");
                }
            }
        }
    }
}

static bool is_name(const char *name)
{
    return *name && strlen(name) <= 253 && !strpbrk(name, ",\"\\\n\r\t");
}

static dls_status name_of(dls_kube_quotas *q, const char *space, const char *name, int32_t *code,
                          dls_error *err)
{
    char both[600];
    snprintf(both, sizeof both, "%s%s", space, name);
    return dls_strdict_put(&q->names, both, strlen(both), code, err);
}

static dls_status keep(dls_kube_quotas *q, const dls_kube_quota *row, dls_error *err)
{
    size_t i = 0;
    while (i < q->n && (q->at[i].queue != row->queue || q->at[i].kai != row->kai)) {
        i++;
    }
    if (i == q->n) {
        DLS_TRY(dls_grow(&q->at, &q->cap, q->n + 1, sizeof *q->at, err));
        q->n++;
        q->n_kai += row->kai;
    }
    q->at[i] = *row;
    return DLS_OK;
}

/* A number of KAI's; at most 1e9, and whatever is below nothing has no limit. */
static double kai_number(json_object *gpu, const char *name)
{
    json_object *value = dls_kube_get(gpu, name);
    const double number = value ? json_object_get_double(value) : 0;
    return number >= 0 ? fmin(number, 1e9) : -1;
}

static void read_kai(dls_kube_quota *row, json_object *object)
{
    json_object *spec = dls_kube_get(object, "spec"), *priority = dls_kube_get(spec, "priority"),
                *gpu = dls_kube_get(dls_kube_get(spec, "resources"), "gpu");
    row->quota = kai_number(gpu, "quota");
    row->limit = kai_number(gpu, "limit");
    row->weight = fmax(kai_number(gpu, "overQuotaWeight"), 0);
    const int64_t said = priority ? json_object_get_int64(priority) : 100, most = INT64_C(1000000000000000);
    row->priority = said > most ? most : said < -most ? -most : said;
    snprintf(row->created, sizeof row->created, "%s",
             dls_kube_text(dls_kube_get(object, "metadata"), "creationTimestamp"));
}

dls_status dls_kube_quotas_read(dls_kube_quotas *q, const dls_walk *w, const char *kind,
                                json_object *object, bool *is, dls_error *err)
{
    /* The member that names its cohort has had two names. */
    static const struct {
        const char *kind, *parents[2], *space;
    } kinds[] = {{"ClusterQueue", {"cohortName", "cohort"}, ""},
                 {"Cohort", {"parentName", "parent"}, "cohort/"},
                 {"Queue", {"parentQueue", "parentQueue"}, ""}};
    size_t k = 0, n_groups;
    while (k < 3 && strcmp(kind, kinds[k].kind) != 0) {
        k++;
    }
    *is = k < 2 || (k == 2 && strncmp(dls_kube_text(object, "apiVersion"), DLS_KUBE_KAI,
                                      strlen(DLS_KUBE_KAI)) == 0);
    if (!*is) {
        return DLS_OK;
    }
    json_object *spec = dls_kube_get(object, "spec");
    json_object *groups = dls_kube_list_of(spec, "resourceGroups", &n_groups);
    const char *name = dls_kube_text(dls_kube_get(object, "metadata"), "name"),
               *first = dls_kube_text(spec, kinds[k].parents[0]),
               *parent = *first ? first : dls_kube_text(spec, kinds[k].parents[1]);
    dls_kube_quota row = {.parent = -1, .kai = k == 2};
    if (!is_name(name) || (*parent && !is_name(parent))) {
        return dls_walk_fail(w, err, "'%.100s' in '%.100s' is not a name of a %s", name, parent, kind);
    }
    if (row.kai) {
        read_kai(&row, object);
    } else {
        add_resources(&row, groups, n_groups);
    }
    DLS_TRY(name_of(q, kinds[k].space, name, &row.queue, err));
    if (*parent) {
        DLS_TRY(name_of(q, row.kai ? "" : "cohort/", parent, &row.parent, err));
    }
    return keep(q, &row, err);
}

void dls_kube_quotas_init(dls_kube_quotas *q)
{
    *q = (dls_kube_quotas){.n = 0};
    dls_strdict_init(&q->names);
}

void dls_kube_quotas_fini(dls_kube_quotas *q)
{
    dls_strdict_fini(&q->names);
    dls_free(q->at);
}

dls_status dls_kube_quotas_check(const dls_kube_quotas *q, const char *objects, dls_error *err)
{
    int32_t *up = NULL; /* [names] the parent; -1 */
    dls_status status = DLS_OK;
    DLS_TRY(dls_alloc_array(&up, q->names.n + 1, sizeof *up, "quotas", err));
    for (size_t i = 0; i < q->names.n; i++) {
        up[i] = -1;
    }
    for (size_t i = 0; i < q->n; i++) {
        if (q->at[i].kai == (q->n_kai > 0)) {
            up[q->at[i].queue] = q->at[i].parent;
        }
    }
    for (size_t i = 0; i < q->names.n && status == DLS_OK; i++) {
        size_t steps = 0;
        for (int32_t at = (int32_t)i; at >= 0 && steps <= q->names.n; at = up[at]) {
            steps++;
        }
        if (steps > q->names.n) {
            status = dls_fail(err, DLS_EINPUT, objects, "the quota '%.100s' is within itself",
                              dls_strdict_get(&q->names, (int32_t)i));
        }
    }
    dls_free(up);
    return status;
}

/* ---- tables ---------------------------------------------------------------------------------- */

const char *dls_kube_quotas_file(const dls_kube_quotas *q)
{
    return q->n_kai > 0 ? "queues.csv" : q->n > 0 ? "cohorts.csv" : NULL;
}

static int by_age(const void *x, const void *y)
{
    const dls_kube_quota *a = x, *b = y;
    const int c = strcmp(a->created, b->created);
    return c != 0 ? c : a->queue - b->queue;
}

static void put_limit(FILE *csv, int64_t limit, char behind)
{
    if (limit >= 0) {
        fprintf(csv, "%lld", (long long)limit);
    }
    fputc(behind, csv);
}

dls_status dls_kube_quotas_put(FILE *csv, void *what, dls_error *err)
{
    dls_kube_quotas *q = what;
    (void)err;
    if (q->n_kai > 0) {
        qsort(q->at, q->n, sizeof *q->at, by_age);
    }
    fprintf(csv, "name,parent,gpus,%s\n", q->n_kai > 0 ? "limit,weight,priority" : "borrow,lend");
    for (size_t i = 0; i < q->n; i++) {
        const dls_kube_quota *row = &q->at[i];
        if (row->kai != (q->n_kai > 0)) {
            continue;
        }
        fprintf(csv, "%s,%s,", dls_strdict_get(&q->names, row->queue),
                row->parent >= 0 ? dls_strdict_get(&q->names, row->parent) : "");
        if (row->kai) {
            fprintf(csv, "%.9g,%.9g,%.9g,%lld\n", row->quota, row->limit, row->weight,
                    (long long)row->priority);
        } else {
            fprintf(csv, "%lld,", (long long)row->gpus);
            put_limit(csv, row->borrow, ',');
            put_limit(csv, row->lend, '\n');
        }
    }
    return DLS_OK;
}

void dls_kube_quotas_report(const dls_kube_quotas *q, int64_t gpus, FILE *to)
{
    double sum = 0;
    for (size_t i = 0; i < q->n; i++) {
        const dls_kube_quota *row = &q->at[i];
        /* Of KAI's the tops': those below them are in them. */
        sum += !row->kai ? (double)row->gpus : row->parent < 0 ? fmax(row->quota, 0) : 0;
    }
    if (q->n_kai > 0 && q->n_kai < q->n) {
        fprintf(to, "  left out: %zu quotas of Kueue beside KAI's\n", q->n - q->n_kai);
    }
    if (sum > (double)gpus) {
        fprintf(to, "  quotas of %.0f GPUs, more than there are: who is first has them\n", sum);
    }
}
