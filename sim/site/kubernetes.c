/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads what kubectl prints:
 *
 *      Node                      --> cluster.cfg   GPUs (nvidia.com/gpu), their product, processors
 *      Pod                       --> trace.csv     pods of one Job, PyTorchJob, PodGroup are one gang
 *      Workload (Kueue)          --> trace.csv     when its gang was submitted, and its queue
 *      ClusterQueue, Cohort      --> cohorts.csv   quotas of the scheduler `fair-share`
 *
 * What may be changed here: which members are read. tests/cli/site_kubernetes.sh guards it.
 */
#include "dlsim/site.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/strdict.h"
#include "site/nodes.h"
#include "traces/date.h"
#include "traces/trace_impl.h"
#include "traces/walk.h"

#include <stdlib.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define PRODUCT "nvidia.com/gpu.product"

/* Pods that belong together. */
typedef struct gang {
    int64_t submit_us, start_us, end_us; /* of the first, and of the last that ended; DLS_ABSENT */
    int64_t gpus, cpu_milli, priority, pods;
    bool unbound, running, failed, has_pod; /* some pod */
    int32_t space, queue, type;             /* in names; queue: "namespace/name"; -1: none */
} gang;

/* Of a ClusterQueue, or of a Cohort, whose name is "cohort/NAME". */
typedef struct quota {
    int32_t queue, parent; /* in names; parent -1: none */
    int64_t gpus, borrow, lend; /* limits -1: none */
} quota;

typedef struct reading {
    dls_walk w;
    dls_site_nodes nodes;
    dls_strdict keys, names;
    gang *gang; /* [codes of keys] */
    quota *quota;
    int32_t *cluster_of; /* [names]: the cluster queue of a local one; 0: none, else its code + 1 */
    size_t gang_cap, n_quotas, quota_cap, names_cap;
    size_t pods, other, without; /* other: objects of other kinds; without: pods without GPUs */
} reading;

/* ---- members -----------------------------------------------------------------------------------
 */

static json_object *get(json_object *of, const char *name)
{
    json_object *out = NULL;
    return json_object_is_type(of, json_type_object) && json_object_object_get_ex(of, name, &out)
               ? out
               : NULL;
}

static const char *text(json_object *of, const char *name)
{
    json_object *out = get(of, name);
    return json_object_is_type(out, json_type_string) ? json_object_get_string(out) : "";
}

/* A member that is a list, and its length; NULL and 0 if it is none. */
static json_object *list_of(json_object *of, const char *name, size_t *n)
{
    json_object *out = get(of, name);
    const bool is = json_object_is_type(out, json_type_array);
    *n = is ? json_object_array_length(out) : 0;
    return is ? out : NULL;
}

/* "8", 8, "63500m": thousandths, of at most a million. */
static int64_t milli(json_object *of, const char *name)
{
    json_object *value = get(of, name);
    char *end;
    if (!value) {
        return 0;
    }
    const double number = strtod(json_object_get_string(value), &end);
    const double out = *end == 'm' ? number : *end == 'k' ? 1e6 * number : 1e3 * number;
    return out > 0 && out <= 1e9 ? (int64_t)(out + 0.5) : 0;
}

static bool date(json_object *of, const char *name, int64_t *us)
{
    const char *s = text(of, name);
    return dls_date_parse(s, strlen(s), us);
}

/* The condition of a type, if it is true. */
static json_object *condition(json_object *status, const char *type)
{
    size_t n;
    json_object *list = list_of(status, "conditions", &n);
    for (size_t i = 0; i < n; i++) {
        json_object *c = json_object_array_get_idx(list, i);
        if (strcmp(text(c, "type"), type) == 0 && strcmp(text(c, "status"), "True") == 0) {
            return c;
        }
    }
    return NULL;
}

/* ---- objects -----------------------------------------------------------------------------------
 */

static dls_status name_of(reading *r, const char *space, const char *name, int32_t *code,
                          dls_error *err)
{
    char both[600];
    const int n = snprintf(both, sizeof both, "%s%s%s", space, *space ? "/" : "", name);
    if (n < 0 || (size_t)n >= sizeof both) {
        return dls_walk_fail(&r->w, err, "a name that is longer than names are");
    }
    const size_t before = r->names.n;
    DLS_TRY(dls_strdict_put(&r->names, both, (size_t)n, code, err));
    DLS_TRY(dls_grow(&r->cluster_of, &r->names_cap, r->names.n, sizeof *r->cluster_of, err));
    if (r->names.n > before) {
        r->cluster_of[*code] = 0;
    }
    return DLS_OK;
}

/* The gang of a key, made if it is new. */
static dls_status gang_of(reading *r, const char *space, const char *name, gang **out,
                          dls_error *err)
{
    char key[600];
    int32_t code;
    const size_t before = r->keys.n;
    const int n = snprintf(key, sizeof key, "%s/%s", space, name);
    if (n < 0 || (size_t)n >= sizeof key) {
        return dls_walk_fail(&r->w, err, "a name that is longer than names are");
    }
    DLS_TRY(dls_strdict_put(&r->keys, key, (size_t)n, &code, err));
    DLS_TRY(dls_grow(&r->gang, &r->gang_cap, r->keys.n, sizeof *r->gang, err));
    *out = &r->gang[code];
    if (r->keys.n > before) {
        **out = (gang){.submit_us = DLS_ABSENT,
                       .start_us = DLS_ABSENT,
                       .end_us = DLS_ABSENT,
                       .priority = DLS_ABSENT,
                       .queue = -1,
                       .type = -1};
        DLS_TRY(name_of(r, "", space, &(*out)->space, err));
    }
    return DLS_OK;
}

static dls_status read_node(reading *r, json_object *node, dls_error *err)
{
    json_object *meta = get(node, "metadata"), *has = get(get(node, "status"), "allocatable");
    dls_site_group g = {.count = 1};
    snprintf(g.name, sizeof g.name, "%s", text(meta, "name"));
    snprintf(g.type, sizeof g.type, "%s", text(get(meta, "labels"), PRODUCT));
    g.gpus = (int32_t)(milli(has, GPU) / 1000);
    g.cpus = milli(has, "cpu") / 1000;
    if (!g.name[0]) {
        return dls_walk_fail(&r->w, err, "a node without a name");
    }
    return dls_site_nodes_add(&r->nodes, &g, err);
}

/* What the pods of one job share: a label of the controllers that make gangs, or their owner. */
static const char *group_of(json_object *meta)
{
    static const char *const labels[] = {"kueue.x-k8s.io/pod-group-name", "volcano.sh/job-name",
                                         "training.kubeflow.org/job-name",
                                         "batch.kubernetes.io/job-name", "job-name"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *name = text(get(meta, "labels"), labels[i]);
        if (*name) {
            return name;
        }
    }
    return text(meta, "name");
}

/* The end of the last container; DLS_ABSENT: one has none. */
static int64_t end_of(json_object *status)
{
    size_t n;
    json_object *list = list_of(status, "containerStatuses", &n);
    int64_t last_us = DLS_ABSENT, us;
    for (size_t i = 0; i < n; i++) {
        json_object *state = get(json_object_array_get_idx(list, i), "state");
        if (!date(get(state, "terminated"), "finishedAt", &us)) {
            return DLS_ABSENT;
        }
        last_us = us > last_us ? us : last_us;
    }
    return last_us;
}

static void add_times(gang *g, json_object *pod, int64_t created_us)
{
    json_object *status = get(pod, "status");
    const char *phase = text(status, "phase");
    int64_t start_us = DLS_ABSENT;
    const int64_t end_us = end_of(status);
    g->submit_us = g->submit_us < 0 || created_us < g->submit_us ? created_us : g->submit_us;
    if (!date(condition(status, "PodScheduled"), "lastTransitionTime", &start_us) &&
        !date(status, "startTime", &start_us)) {
        g->unbound = true;
        return;
    }
    g->start_us = start_us > g->start_us ? start_us : g->start_us;
    g->end_us = end_us > g->end_us ? end_us : g->end_us;
    g->running |= end_us == DLS_ABSENT;
    g->failed |= strcmp(phase, "Failed") == 0;
}

static dls_status read_pod(reading *r, json_object *pod, dls_error *err)
{
    json_object *meta = get(pod, "metadata"), *spec = get(pod, "spec");
    size_t n;
    json_object *containers = list_of(spec, "containers", &n), *priority = get(spec, "priority");
    int64_t gpus = 0, cpu_milli = 0, created_us;
    gang *g;
    r->pods++;
    for (size_t i = 0; i < n; i++) {
        json_object *asked = get(json_object_array_get_idx(containers, i), "resources");
        const int64_t limit = milli(get(asked, "limits"), GPU);
        gpus += (limit > 0 ? limit : milli(get(asked, "requests"), GPU)) / 1000;
        cpu_milli += milli(get(asked, "requests"), "cpu");
    }
    if (gpus == 0) {
        r->without++;
        return DLS_OK;
    }
    if (!date(meta, "creationTimestamp", &created_us)) {
        return dls_walk_fail(&r->w, err, "pod '%.100s' has no creationTimestamp",
                             text(meta, "name"));
    }
    DLS_TRY(gang_of(r, text(meta, "namespace"), group_of(meta), &g, err));
    const char *queue = text(get(meta, "labels"), "kueue.x-k8s.io/queue-name");
    const char *product = text(get(spec, "nodeSelector"), PRODUCT);
    if (*queue && g->queue < 0) {
        DLS_TRY(name_of(r, text(meta, "namespace"), queue, &g->queue, err));
    }
    if (*product) {
        DLS_TRY(name_of(r, "", product, &g->type, err));
    }
    g->gpus += gpus;
    g->cpu_milli += cpu_milli;
    g->pods++;
    g->has_pod = true;
    g->priority = priority && json_object_get_int64(priority) >= 0 ? json_object_get_int64(priority)
                                                                   : g->priority;
    add_times(g, pod, created_us);
    return DLS_OK;
}

/* Kueue holds a gang back before there are pods: it came when its Workload did. */
static dls_status read_workload(reading *r, json_object *load, dls_error *err)
{
    size_t n;
    json_object *meta = get(load, "metadata"), *owners = list_of(meta, "ownerReferences", &n);
    const char *queue = text(get(load, "spec"), "queueName");
    json_object *owner = n > 0 ? json_object_array_get_idx(owners, 0) : meta;
    int64_t created_us;
    gang *g;
    DLS_TRY(gang_of(r, text(meta, "namespace"), text(owner, "name"), &g, err));
    if (*queue) {
        DLS_TRY(name_of(r, text(meta, "namespace"), queue, &g->queue, err));
    }
    if (date(meta, "creationTimestamp", &created_us)) {
        g->submit_us = g->submit_us < 0 || created_us < g->submit_us ? created_us : g->submit_us;
    }
    return DLS_OK;
}

/* A limit holds if every flavor of GPUs has one. */
static int64_t add_limit(int64_t sum, json_object *resource, const char *name)
{
    return sum >= 0 && get(resource, name) ? sum + milli(resource, name) / 1000 : -1;
}

static void add_resources(quota *q, json_object *groups, size_t n_groups)
{
    size_t n_flavors, n;
    for (size_t i = 0; i < n_groups; i++) {
        json_object *flavors = list_of(json_object_array_get_idx(groups, i), "flavors", &n_flavors);
        for (size_t k = 0; k < n_flavors; k++) {
            json_object *list = list_of(json_object_array_get_idx(flavors, k), "resources", &n);
            for (size_t m = 0; m < n; m++) {
                json_object *resource = json_object_array_get_idx(list, m);
                if (strcmp(text(resource, "name"), GPU) == 0) {
                    q->gpus += milli(resource, "nominalQuota") / 1000;
                    q->borrow = add_limit(q->borrow, resource, "borrowingLimit");
                    q->lend = add_limit(q->lend, resource, "lendingLimit");
                }
            }
        }
    }
}

static bool is_name(const char *name)
{
    return *name && !strpbrk(name, ",\"\\\n\r\t");
}

/* Of one that is there twice, dumped again, the last counts. The member that names its cohort has had
 * two names. */
static dls_status read_quota(reading *r, json_object *object, bool cohort, const char *const of[2],
                             dls_error *err)
{
    size_t n_groups, i = 0;
    json_object *spec = get(object, "spec");
    json_object *groups = list_of(spec, "resourceGroups", &n_groups);
    const char *name = text(get(object, "metadata"), "name"),
               *parent = *text(spec, of[0]) ? text(spec, of[0]) : text(spec, of[1]);
    quota q = {.parent = -1};
    if (!is_name(name) || (*parent && !is_name(parent))) {
        return dls_walk_fail(&r->w, err, "'%.100s' in '%.100s' is not a name of a ClusterQueue or Cohort",
                             name, parent);
    }
    add_resources(&q, groups, n_groups);
    DLS_TRY(name_of(r, cohort ? "cohort" : "", name, &q.queue, err));
    if (*parent) {
        DLS_TRY(name_of(r, "cohort", parent, &q.parent, err));
    }
    while (i < r->n_quotas && r->quota[i].queue != q.queue) {
        i++;
    }
    if (i == r->n_quotas) {
        DLS_TRY(dls_grow(&r->quota, &r->quota_cap, r->n_quotas + 1, sizeof *r->quota, err));
        r->n_quotas++;
    }
    r->quota[i] = q;
    return DLS_OK;
}

static dls_status read_cluster_queue(reading *r, json_object *queue, dls_error *err)
{
    return read_quota(r, queue, false, (const char *const[]){"cohortName", "cohort"}, err);
}

static dls_status read_cohort(reading *r, json_object *cohort, dls_error *err)
{
    return read_quota(r, cohort, true, (const char *const[]){"parentName", "parent"}, err);
}

static dls_status read_local_queue(reading *r, json_object *queue, dls_error *err)
{
    json_object *meta = get(queue, "metadata");
    int32_t local, cluster;
    DLS_TRY(name_of(r, "", text(get(queue, "spec"), "clusterQueue"), &cluster, err));
    DLS_TRY(name_of(r, text(meta, "namespace"), text(meta, "name"), &local, err));
    r->cluster_of[local] = cluster + 1;
    return DLS_OK;
}

static dls_status read_item(reading *r, json_object *item, dls_error *err)
{
    static const struct {
        const char *kind;
        dls_status (*read)(reading *r, json_object *item, dls_error *err);
    } kinds[] = {{"Node", read_node},
                 {"Pod", read_pod},
                 {"Workload", read_workload},
                 {"ClusterQueue", read_cluster_queue},
                 {"Cohort", read_cohort},
                 {"LocalQueue", read_local_queue}};
    const char *kind = text(item, "kind");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind, kinds[i].kind) == 0) {
            return kinds[i].read(r, item, err);
        }
    }
    r->other++;
    return DLS_OK;
}

static dls_status read_items(reading *r, dls_error *err)
{
    DLS_TRY(dls_walk_enter(&r->w, '[', err));
    for (bool more;;) {
        json_object *item;
        DLS_TRY(dls_walk_item(&r->w, ']', &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(dls_walk_object(&r->w, &item, err));
        const dls_status status = read_item(r, item, err);
        json_object_put(item);
        DLS_TRY(status);
    }
}

static dls_status read_all(reading *r, dls_error *err)
{
    DLS_TRY(dls_walk_enter(&r->w, '{', err));
    for (bool more;;) {
        char key[DLS_WALK_TEXT];
        DLS_TRY(dls_walk_key(&r->w, key, &more, err));
        if (!more) {
            return dls_walk_end(&r->w, err);
        }
        DLS_TRY(strcmp(key, "items") == 0 ? read_items(r, err) : dls_walk_skip(&r->w, err));
    }
}

/* ---- the trace ---------------------------------------------------------------------------------
 */

/* The virtual cluster of a gang: its cluster queue, or its namespace. */
static const char *queue_of(const reading *r, const gang *g)
{
    const int32_t cluster = g->queue >= 0 ? r->cluster_of[g->queue] : 0;
    return dls_strdict_get(&r->names, cluster > 0 ? cluster - 1 : g->space);
}

static dls_status add_gang(const reading *r, int32_t code, dls_trace_builder *b, dls_error *err)
{
    const gang *g = &r->gang[code];
    const char *skip = !g->has_pod  ? "a workload without pods"
                       : g->unbound ? "a pod that was never bound"
                       : g->running ? "no end (still running, or lost)"
                                    : NULL;
    dls_job_rec rec;
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    dls_job_rec_init(&rec);
    rec.id = dls_strdict_get(&r->keys, code);
    rec.submit_us = g->submit_us < g->start_us ? g->submit_us : g->start_us;
    rec.queue_us = g->start_us - rec.submit_us;
    rec.duration_us = g->end_us > g->start_us ? g->end_us - g->start_us : 0;
    rec.gpus_milli = 1000 * g->gpus;
    rec.cpu_milli = g->cpu_milli > 0 ? g->cpu_milli : DLS_ABSENT;
    rec.nodes = DLS_ABSENT;
    rec.priority = g->priority;
    rec.outcome = g->failed ? DLS_OUTCOME_FAILED : DLS_OUTCOME_COMPLETED;
    rec.vc = queue_of(r, g);
    rec.job_class = dls_strdict_get(&r->names, g->space);
    rec.gpu_types = g->type >= 0 ? dls_strdict_get(&r->names, g->type) : NULL;
    return dls_trace_builder_add(b, &rec, rec.id, err);
}

static dls_status make_trace(const reading *r, dls_trace **out, dls_error *err)
{
    dls_trace_builder *b;
    DLS_TRY(dls_trace_builder_create(NULL, &b, err));
    dls_trace_builder_rebase(b, "Z");
    dls_status status = DLS_OK;
    for (size_t k = 0; status == DLS_OK && k < r->keys.n; k++) {
        status = add_gang(r, (int32_t)k, b, err);
    }
    return dls_trace_builder_end(b, status, out, err);
}

/* ---- the site ----------------------------------------------------------------------------------
 */

static dls_status put_cluster(FILE *cfg, void *what, dls_error *err)
{
    const reading *r = what;
    (void)err;
    dls_site_nodes_put(&r->nodes, "kubernetes", cfg);
    fputs("placement: { name = \"consolidated\"; };\n", cfg);
    if (r->n_quotas == 0) {
        fputs("scheduler: { name = \"fifo\"; };\n", cfg);
        return DLS_OK;
    }
    fputs("scheduler: { name = \"fair-share\"; cohorts = \"cohorts.csv\"; };\n", cfg);
    return DLS_OK;
}

static void put_limit(FILE *csv, int64_t limit, char behind)
{
    if (limit >= 0) {
        fprintf(csv, "%lld", (long long)limit);
    }
    fputc(behind, csv);
}

static dls_status put_cohorts(FILE *csv, void *what, dls_error *err)
{
    const reading *r = what;
    (void)err;
    fputs("name,parent,gpus,borrow,lend\n", csv);
    for (size_t i = 0; i < r->n_quotas; i++) {
        const quota *q = &r->quota[i];
        fprintf(csv, "%s,%s,%lld,", dls_strdict_get(&r->names, q->queue),
                q->parent >= 0 ? dls_strdict_get(&r->names, q->parent) : "", (long long)q->gpus);
        put_limit(csv, q->borrow, ',');
        put_limit(csv, q->lend, '\n');
    }
    return DLS_OK;
}

static dls_status write_all(reading *r, const char *folder, const dls_trace *trace, dls_error *err)
{
    char path[4096];
    DLS_TRY(dls_folder_make(folder, err));
    const int n = snprintf(path, sizeof path, "%s/cluster.cfg", folder);
    if (n < 0 || (size_t)n >= sizeof path) {
        return dls_fail(err, DLS_EINPUT, folder, "too long a path");
    }
    DLS_TRY(dls_atomicfile_write(path, put_cluster, r, err));
    if (r->n_quotas > 0) {
        snprintf(path, sizeof path, "%s/cohorts.csv", folder);
        DLS_TRY(dls_atomicfile_write(path, put_cohorts, r, err));
    }
    snprintf(path, sizeof path, "%s/trace.csv", folder);
    return dls_trace_save_csv(trace, path, err);
}

static void report(const reading *r, const char *objects, const dls_trace *trace, FILE *to)
{
    const dls_trace_info *info = dls_trace_about(trace);
    fprintf(to, "%s: %zu gangs of %zu pods from %s on; %d nodes with %lld GPUs, %zu quotas\n",
            objects, dls_trace_cols(trace)->n, r->pods, info->epoch,
            (int)(r->nodes.total - r->nodes.without), (long long)r->nodes.total_gpus, r->n_quotas);
    if (r->without > 0 || r->other > 0 || r->nodes.without > 0) {
        fprintf(to, "  left out: %zu pods and %d nodes without GPUs, %zu objects of other kinds\n",
                r->without, (int)r->nodes.without, r->other);
    }
    double gpus = 0;
    for (size_t i = 0; i < r->n_quotas; i++) {
        gpus += (double)r->quota[i].gpus;
    }
    if (gpus > (double)r->nodes.total_gpus) {
        fprintf(to, "  quotas of %.0f GPUs, more than there are: who is first has them\n", gpus);
    }
    for (const char *line = info->notes; *line; line += strcspn(line, "\n") + 1) {
        fprintf(to, "  %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

static dls_status import(reading *r, const char *objects, const char *folder, FILE *to,
                         dls_error *err)
{
    dls_trace *trace = NULL;
    DLS_TRY(read_all(r, err));
    if (r->nodes.total_gpus == 0) {
        return dls_fail(err, DLS_EINPUT, objects,
                        "no node with " GPU ": is it the output of `kubectl get nodes,pods -A -o "
                        "json`?");
    }
    dls_status status = make_trace(r, &trace, err);
    if (status == DLS_OK) {
        report(r, objects, trace, to);
        status = write_all(r, folder, trace, err);
    }
    dls_trace_destroy(trace);
    return status;
}

dls_status dls_site_import_kubernetes(const char *objects, const char *folder, FILE *to,
                                      dls_error *err)
{
    reading r = {.n_quotas = 0};
    char *bytes;
    size_t len;
    DLS_TRY(dls_file_read_text(objects, DLS_FILE_TRACE, &bytes, &len, err));
    const dls_trace_source src = {.path = objects, .text = bytes, .len = len};
    dls_strdict_init(&r.keys);
    dls_strdict_init(&r.names);
    dls_status status = dls_walk_init(&r.w, &src, err);
    if (status == DLS_OK) {
        r.w.p = bytes;
        status = import(&r, objects, folder, to, err);
        dls_walk_fini(&r.w);
    }
    dls_strdict_fini(&r.keys);
    dls_strdict_fini(&r.names);
    dls_free(r.gang);
    dls_free(r.quota);
    dls_free(r.cluster_of);
    dls_site_nodes_fini(&r.nodes);
    dls_free(bytes);
    return status;
}
