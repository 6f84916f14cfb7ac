/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quotas of Kubernetes as tables of schedulers:
 *
 *      ClusterQueue, Cohort (Kueue)   --> cohorts.csv of `kueue`: quotas, preemption policies, weights
 *      ConfigMap (Kueue's)            --> its strategies of fair sharing
 *      Queue (KAI)                    --> queues.csv of `fair-share`, the eldest first, as KAI divides what is left over
 *
 * What may be changed here: which members are read. tests/cli/site_kubernetes.sh guards it.
 */
#include "site/kube_quotas.h"

#include "base/own.h"
#include "base/suggest.h"

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

/* "8", 8, "63500m", "1k": thousandths, of at most a million; *odd: it is no quantity, and counts for nothing. */
static int64_t milli_of(json_object *of, const char *name, bool *odd)
{
    static const struct {
        const char *suffix;
        double times;
    } suffixes[] = {{"", 1e3}, {"m", 1}, {"k", 1e6}, {"M", 1e9}, {"Ki", 1024e3}, {"u", 1e-3}, {"n", 1e-6}};
    json_object *value = dls_kube_get(of, name);
    const char *text = value ? json_object_get_string(value) : "0";
    char *end;
    const double number = strtod(text, &end);
    const size_t i = DLS_NAMED(suffixes, end);
    const bool is = end != text && i < sizeof suffixes / sizeof *suffixes;
    const double out = is ? number * suffixes[i].times : -1;
    *odd = !(out >= 0 && out <= 1e9);
    return *odd ? 0 : (int64_t)(out + 0.5);
}

int64_t dls_kube_quotas_milli(dls_kube_quotas *q, json_object *of, const char *name)
{
    bool odd;
    const int64_t out = milli_of(of, name, &odd);
    if (odd && q->odd++ == 0) {
        snprintf(q->first_odd, sizeof q->first_odd, "%s: %s", name, json_object_get_string(dls_kube_get(of, name)));
    }
    return out;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* A limit holds if every flavor of GPUs has one. */
static int64_t add_limit(dls_kube_quotas *q, int64_t sum, json_object *resource, const char *name)
{
    return sum >= 0 && dls_kube_get(resource, name) ? sum + dls_kube_quotas_milli(q, resource, name) / 1000 : -1;
}

static void add_resources(dls_kube_quotas *q, dls_kube_quota *row, json_object *groups, size_t n_groups)
{
    size_t n_flavors, n;
    for (size_t i = 0; i < n_groups; i++) {
        json_object *flavors = dls_kube_list_of(json_object_array_get_idx(groups, i), "flavors", &n_flavors);
        for (size_t k = 0; k < n_flavors; k++) {
            json_object *list = dls_kube_list_of(json_object_array_get_idx(flavors, k), "resources", &n);
            for (size_t m = 0; m < n; m++) {
                json_object *resource = json_object_array_get_idx(list, m);
                if (strcmp(dls_kube_text(resource, "name"), DLS_KUBE_GPU) == 0) {
                    row->gpus += dls_kube_quotas_milli(q, resource, "nominalQuota") / 1000;
                    row->borrow = add_limit(q, row->borrow, resource, "borrowingLimit");
                    row->lend = add_limit(q, row->lend, resource, "lendingLimit");
                } else {
                    q->others++;
                }
            }
        }
    }
}

/* A word of Kueue's, of which there are so many; another is an error. */
static dls_status read_policy(const dls_walk *w, json_object *of, const char *name, char *out, size_t size,
                              size_t n_words, dls_error *err)
{
    static const char *const words[] = {"", "Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"};
    const char *word = dls_kube_text(of, name);
    const size_t i = DLS_NAMED(words, word);
    if (i >= n_words) {
        return dls_walk_fail(w, err, "%s: '%.100s' is no policy of preemption", name, word);
    }
    snprintf(out, size, "%s", i == 1 ? "" : word);
    return DLS_OK;
}

/* What else a ClusterQueue or Cohort says: whom its workloads preempt, what its share is by, who passes whom. */
static dls_status read_policies(dls_kube_quotas *q, dls_kube_quota *row, const dls_walk *w, json_object *spec, dls_error *err)
{
    json_object *preemption = dls_kube_get(spec, "preemption"),
                *borrow = dls_kube_get(preemption, "borrowWithinCohort"),
                *most = dls_kube_get(borrow, "maxPriorityThreshold"), *fair = dls_kube_get(spec, "fairSharing");
    const char *stop = dls_kube_text(spec, "stopPolicy");
    size_t n;
    DLS_TRY(read_policy(w, preemption, "withinClusterQueue", row->policies[0], sizeof *row->policies, 4, err));
    DLS_TRY(read_policy(w, preemption, "reclaimWithinCohort", row->policies[1], sizeof *row->policies, 5, err));
    DLS_TRY(read_policy(w, borrow, "policy", row->policies[2], sizeof *row->policies, 3, err));
    if (*row->policies[2] && json_object_is_type(most, json_type_int)) {
        snprintf(row->policies[2], sizeof *row->policies, "%d", json_object_get_int(most));
    }
    row->strict = strcmp(dls_kube_text(spec, "queueingStrategy"), "StrictFIFO") == 0;
    row->fair_weight = 1;
    if (dls_kube_get(fair, "weight")) {
        row->fair_weight = (double)dls_kube_quotas_milli(q, fair, "weight") / 1000;
        q->weighted++;
    }
    q->stopped += *stop && strcmp(stop, "None") != 0;
    dls_kube_list_of(spec, "admissionChecks", &n);
    q->checked += n > 0 || dls_kube_get(spec, "admissionChecksStrategy");
    return DLS_OK;
}

/* The text of Kueue's configuration is YAML: what is indented under `fairSharing:` counts. */
static void read_config(dls_kube_quotas *q, const char *text)
{
    bool within = false, enabled = true;
    size_t column = 0;
    bool final = false, initial = false;
    snprintf(q->fair, sizeof q->fair, "none");
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t blank = strspn(line, " "), length = strcspn(line, "\n");
        const char *word = line + blank;
        if (blank == length || *word == '#') {
            continue;
        }
        if (strncmp(word, "fairSharing:", strlen("fairSharing:")) == 0) {
            within = true;
            column = blank;
        } else if (within && blank <= column && *word != '-') {
            break;
        }
        const char *end = line + length, *no = strstr(word, "enable: false"), *a = strstr(word, "LessThanOrEqualToFinalShare"),
                   *b = strstr(word, "LessThanInitialShare");
        enabled &= !(within && no && no < end);
        final |= within && a && a < end;
        initial |= within && b && b < end;
    }
    if (within && enabled) {
        snprintf(q->fair, sizeof q->fair, "%s", final == initial ? "both" : final ? "final" : "initial");
    }
}

bool dls_kube_quotas_config(dls_kube_quotas *q, json_object *object)
{
    const char *text = dls_kube_text(dls_kube_get(object, "data"), "controller_manager_config.yaml");
    const bool is = strstr(text, "config.kueue.x-k8s.io") != NULL;
    if (is) {
        read_config(q, text);
    }
    return is;
}

const char *dls_kube_quotas_fair(const dls_kube_quotas *q)
{
    return *q->fair ? q->fair : q->weighted > 0 ? "both" : "none";
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
    const size_t k = DLS_NAMED(kinds, kind);
    size_t n_groups;
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
        q->least += dls_kube_get(spec, "preemptMinRuntime") || dls_kube_get(spec, "reclaimMinRuntime");
    } else {
        add_resources(q, &row, groups, n_groups);
        DLS_TRY(read_policies(q, &row, w, spec, err));
    }
    DLS_TRY(name_of(q, kinds[k].space, name, &row.queue, err));
    if (*parent) {
        DLS_TRY(name_of(q, row.kai ? "" : "cohort/", parent, &row.parent, err));
    }
    return keep(q, &row, err);
}

void dls_kube_quotas_fini(dls_kube_quotas *q)
{
    dls_strdict_fini(&q->names);
    dls_free(q->at);
}

dls_status dls_kube_quotas_check(const dls_kube_quotas *q, const char *objects, dls_error *err)
{
    DLS_FREED int32_t *up = NULL; /* [names] the parent; -1 */
    DLS_TRY(dls_alloc_array(&up, q->names.n + 1, sizeof *up, "quotas", err));
    for (size_t i = 0; i < q->names.n; i++) {
        up[i] = -1;
    }
    for (size_t i = 0; i < q->n; i++) {
        if (q->at[i].kai == (q->n_kai > 0)) {
            up[q->at[i].queue] = q->at[i].parent;
        }
    }
    for (size_t i = 0; i < q->names.n; i++) {
        size_t steps = 0;
        for (int32_t at = (int32_t)i; at >= 0 && steps <= q->names.n; at = up[at]) {
            steps++;
        }
        if (steps > q->names.n) {
            return dls_fail(err, DLS_EINPUT, objects, "the quota '%.100s' is within itself",
                            dls_strdict_get(&q->names, (int32_t)i));
        }
    }
    return DLS_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

const char *dls_kube_quotas_file(const dls_kube_quotas *q)
{
    return q->n_kai > 0 ? "queues.csv" : q->n > 0 ? "cohorts.csv" : NULL;
}

DLS_BY(by_age, dls_kube_quota, strcmp(x->created, y->created), DLS_UP(queue));

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
    if (q->n_kai > 0) {
        qsort(q->at, q->n, sizeof *q->at, by_age);
    }
    fprintf(csv, "name,parent,gpus,%s\n",
            q->n_kai > 0 ? "limit,weight,priority" : "borrow,lend,weight,within,reclaim,borrowing,order");
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
            put_limit(csv, row->lend, ',');
            fprintf(csv, "%.9g,%s,%s,%s,%s\n", row->fair_weight, row->policies[0], row->policies[1], row->policies[2],
                    row->strict ? "StrictFIFO" : "");
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
    if (q->n > 0 && q->n_kai == 0) {
        fprintf(to, "  fair sharing: %s%s\n", dls_kube_quotas_fair(q),
                *q->fair ? "" : " (taken so: Kueue's configuration, ConfigMap kueue-manager-config, is not among the objects)");
    }
    const struct {
        size_t n;
        const char *what;
    } missing[] = {{q->stopped, "queues with a stopPolicy, taken as open"},
                   {q->checked, "queues with admissionChecks, taken as passed at once"},
                   {q->least, "queues with least run times, taken as without"},
                   {q->others, "quotas of other resources than " DLS_KUBE_GPU ", taken as without limit"}};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        if (missing[i].n > 0) {
            fprintf(to, "  not modelled: %zu %s\n", missing[i].n, missing[i].what);
        }
    }
    if (q->odd > 0) {
        fprintf(to, "  %zu numbers that are none, taken as 0 (the first: %s)\n", q->odd, q->first_odd);
    }
}
