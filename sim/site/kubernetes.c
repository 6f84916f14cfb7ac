/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads what kubectl prints:
 *
 *      Node                      --> cluster.cfg   GPUs (nvidia.com/gpu), their product, processors
 *      Pod (kube_pods.c)         --> trace.csv     pods of one Job, PyTorchJob, PodGroup are one gang
 *      Workload (Kueue)          --> trace.csv     when its gang was submitted, and its queue
 *      PodGroup (KAI)            --> trace.csv     its gang's queue
 *      quotas (kube_quotas.c)    --> cohorts.csv of the scheduler `kueue` or queues.csv of `fair-share`
 *
 * What may be changed here: which members are read. tests/cli/site_kubernetes.sh guards it.
 */
#include "dlsim/site.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/guard.h"
#include "base/owners.h"
#include "base/strdict.h"
#include "base/suggest.h"
#include "site/kube_pods.h"
#include "site/kube_quotas.h"
#include "site/nodes.h"
#include "traces/date.h"
#include "traces/trace_impl.h"
#include "traces/walk.h"

#include <stdlib.h>
#include <string.h>

#define PRODUCT "nvidia.com/gpu.product"
#define KAI_QUEUE "kai.scheduler/queue"

/* Pods that belong together. */
typedef struct gang {
    int64_t submit_us;               /* of the first; DLS_ABSENT */
    int64_t priority;
    int32_t space, queue, kai, type; /* in names; queue: "namespace/name" of Kueue's; -1: none */
    int32_t lives;                   /* objects of its name, one after the other; 0: no uid is known */
} gang;

typedef struct reading {
    dls_walk w;
    dls_site_nodes nodes;
    dls_strdict keys, names, uids;
    gang *gang;      /* [codes of keys] */
    int32_t *of_uid; /* [codes of uids] codes of keys */
    dls_kube_pods of_gangs;
    dls_kube_gathered *gathered; /* [keys.n], when all are read */
    dls_strdict node_names;
    dls_kube_quotas quotas;
    int32_t *cluster_of; /* [names]: the cluster queue of a local one; 0: none, else its code + 1 */
    size_t gang_cap, names_cap, uids_cap;
    size_t pods, other, without, parts; /* other: objects of other kinds; without: pods without GPUs; parts: of a part of one */
    size_t nodes_again, foreign;        /* nodes listed before; pods that ask for GPUs by another name */
    char first_foreign[64];
} reading;

/* ---- members --------------------------------------------------------------------------------- */

static bool date(json_object *of, const char *name, int64_t *us)
{
    const char *s = dls_kube_text(of, name);
    return dls_date_parse(s, strlen(s), us);
}

/* The condition of a type, if it is true. */
static json_object *condition(json_object *status, const char *type)
{
    size_t n;
    json_object *list = dls_kube_list_of(status, "conditions", &n);
    for (size_t i = 0; i < n; i++) {
        json_object *c = json_object_array_get_idx(list, i);
        if (strcmp(dls_kube_text(c, "type"), type) == 0 && strcmp(dls_kube_text(c, "status"), "True") == 0) {
            return c;
        }
    }
    return NULL;
}

/* ---- objects --------------------------------------------------------------------------------- */

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
static dls_status gang_of_key(reading *r, const char *space, const char *key, int32_t *code, dls_error *err)
{
    const size_t before = r->keys.n;
    DLS_TRY(dls_strdict_put(&r->keys, key, strlen(key), code, err));
    DLS_TRY(dls_grow(&r->gang, &r->gang_cap, r->keys.n, sizeof *r->gang, err));
    if (r->keys.n > before) {
        gang *g = &r->gang[*code];
        *g = (gang){.submit_us = DLS_ABSENT, .priority = DLS_ABSENT, .queue = -1, .kai = -1, .type = -1};
        DLS_TRY(name_of(r, "", space, &g->space, err));
    }
    return DLS_OK;
}

/* The gang of an object: objects that follow each other under one name, which only their uids tell apart, are
 * gangs of their own. uid "": whichever was read first. */
static dls_status gang_of(reading *r, const char *space, const char *name, const char *uid, gang **out,
                          dls_error *err)
{
    char key[620];
    int32_t code, life = 0;
    const int n = snprintf(key, sizeof key - 20, "%s/%s", space, name);
    if (n < 0 || (size_t)n >= sizeof key - 20) {
        return dls_walk_fail(&r->w, err, "a name that is longer than names are");
    }
    DLS_TRY(gang_of_key(r, space, key, &code, err));
    if (*uid) {
        const size_t before = r->uids.n;
        DLS_TRY(dls_strdict_put(&r->uids, uid, strlen(uid), &life, err));
        DLS_TRY(dls_grow(&r->of_uid, &r->uids_cap, r->uids.n, sizeof *r->of_uid, err));
        if (r->uids.n > before) {
            if (r->gang[code].lives++ > 0) { /* names have no colon */
                snprintf(key + n, sizeof key - (size_t)n, ":%d", (int)r->gang[code].lives);
                DLS_TRY(gang_of_key(r, space, key, &code, err));
            }
            r->of_uid[life] = code;
        }
        code = r->of_uid[life];
    }
    *out = &r->gang[code];
    return DLS_OK;
}

/* It came when the first of its objects did; false: this one has no date. */
static bool came(gang *g, json_object *meta)
{
    int64_t us;
    if (!date(meta, "creationTimestamp", &us)) {
        return false;
    }
    g->submit_us = g->submit_us < 0 || us < g->submit_us ? us : g->submit_us;
    return true;
}

static dls_status read_node(reading *r, json_object *node, dls_error *err)
{
    json_object *meta = dls_kube_get(node, "metadata"), *has = dls_kube_get(dls_kube_get(node, "status"), "allocatable");
    dls_site_group g = {.count = 1};
    snprintf(g.name, sizeof g.name, "%s", dls_kube_text(meta, "name"));
    snprintf(g.type, sizeof g.type, "%s", dls_kube_text(dls_kube_get(meta, "labels"), PRODUCT));
    g.gpus = (int32_t)(dls_kube_quotas_milli(&r->quotas, has, DLS_KUBE_GPU) / 1000);
    g.cpus = dls_kube_quotas_milli(&r->quotas, has, "cpu") / 1000;
    if (!g.name[0]) {
        return dls_walk_fail(&r->w, err, "a node without a name");
    }
    int32_t code;
    const size_t before = r->node_names.n;
    DLS_TRY(dls_strdict_put(&r->node_names, g.name, strlen(g.name), &code, err));
    if (r->node_names.n == before) {
        r->nodes_again++;
        return DLS_OK;
    }
    return dls_site_nodes_add(&r->nodes, &g, err);
}

/* What the pods of one job share: KAI's annotation, a label of the controllers that make gangs, or their owner. */
static const char *group_of(json_object *meta)
{
    static const char *const labels[] = {"kueue.x-k8s.io/pod-group-name", "volcano.sh/job-name",
                                         "training.kubeflow.org/job-name",
                                         "batch.kubernetes.io/job-name", "job-name"};
    const char *kai = dls_kube_text(dls_kube_get(meta, "annotations"), "pod-group-name");
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *name = *kai ? kai : dls_kube_text(dls_kube_get(meta, "labels"), labels[i]);
        if (*name) {
            return name;
        }
    }
    return dls_kube_text(meta, "name");
}

static json_object *owner_of(json_object *meta)
{
    size_t n;
    json_object *owners = dls_kube_list_of(meta, "ownerReferences", &n);
    return n > 0 ? json_object_array_get_idx(owners, 0) : NULL;
}

/* Of the object that a group is named after: the pod's owner or the pod itself; "": of another. */
static const char *uid_of(json_object *meta, const char *group)
{
    json_object *owner = owner_of(meta);
    const bool owned = strcmp(dls_kube_text(owner, "name"), group) == 0;
    return owned || strcmp(dls_kube_text(meta, "name"), group) == 0 ? dls_kube_text(owned ? owner : meta, "uid") : "";
}

/* The end of the last container; DLS_ABSENT: one has none. */
static int64_t end_of(json_object *status)
{
    size_t n;
    json_object *list = dls_kube_list_of(status, "containerStatuses", &n);
    int64_t last_us = DLS_ABSENT, us;
    for (size_t i = 0; i < n; i++) {
        json_object *state = dls_kube_get(json_object_array_get_idx(list, i), "state");
        if (!date(dls_kube_get(state, "terminated"), "finishedAt", &us)) {
            return DLS_ABSENT;
        }
        last_us = us > last_us ? us : last_us;
    }
    return last_us;
}

static void read_times(dls_kube_pod *out, json_object *pod)
{
    json_object *status = dls_kube_get(pod, "status");
    out->start_us = out->end_us = DLS_ABSENT;
    if (date(condition(status, "PodScheduled"), "lastTransitionTime", &out->start_us) ||
        date(status, "startTime", &out->start_us)) {
        out->end_us = end_of(status);
        out->failed = strcmp(dls_kube_text(status, "phase"), "Failed") == 0;
    }
}

/* A queue of KAI's is one of the cluster. */
static dls_status set_kai_queue(reading *r, gang *g, const char *queue, dls_error *err)
{
    if (*queue && g->kai < 0) {
        DLS_TRY(name_of(r, "", queue, &g->kai, err));
    }
    return DLS_OK;
}

/* GPUs that are asked for by a name that is not ours: MIG, other vendors. */
static void see_foreign(reading *r, json_object *asked)
{
    json_object *limits = dls_kube_get(asked, "limits");
    if (!json_object_is_type(limits, json_type_object)) {
        return;
    }
    const struct json_object_iterator end = json_object_iter_end(limits);
    struct json_object_iterator at = json_object_iter_begin(limits);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *name = json_object_iter_peek_name(&at);
        const bool is = strcmp(name, DLS_KUBE_GPU) != 0 && (strstr(name, "gpu") || strstr(name, "/mig-"));
        if (is && r->foreign++ == 0) {
            snprintf(r->first_foreign, sizeof r->first_foreign, "%s", name);
        }
    }
}

static void ask(reading *r, json_object *container, int64_t *gpus, int64_t *cpu_milli)
{
    json_object *asked = dls_kube_get(container, "resources"), *requests = dls_kube_get(asked, "requests");
    const int64_t limit = dls_kube_quotas_milli(&r->quotas, dls_kube_get(asked, "limits"), DLS_KUBE_GPU);
    *gpus = (limit > 0 ? limit : dls_kube_quotas_milli(&r->quotas, requests, DLS_KUBE_GPU)) / 1000;
    *cpu_milli = dls_kube_quotas_milli(&r->quotas, requests, "cpu");
    see_foreign(r, asked);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What its containers ask for together, with those that run beside them from before (restartPolicy Always), or one that runs
 * before them if that is more. */
static void read_asked(reading *r, json_object *spec, dls_kube_pod *out)
{
    size_t n;
    int64_t gpus, cpu_milli, gpus_before = 0, cpu_before = 0;
    json_object *list = dls_kube_list_of(spec, "initContainers", &n);
    for (size_t i = 0; i < n; i++) {
        json_object *container = json_object_array_get_idx(list, i);
        const bool stays = strcmp(dls_kube_text(container, "restartPolicy"), "Always") == 0;
        ask(r, container, &gpus, &cpu_milli);
        gpus_before = larger(gpus_before, out->gpus + gpus);
        cpu_before = larger(cpu_before, out->cpu_milli + cpu_milli);
        out->gpus += stays ? gpus : 0;
        out->cpu_milli += stays ? cpu_milli : 0;
    }
    list = dls_kube_list_of(spec, "containers", &n);
    for (size_t i = 0; i < n; i++) {
        ask(r, json_object_array_get_idx(list, i), &gpus, &cpu_milli);
        out->gpus += gpus;
        out->cpu_milli += cpu_milli;
    }
    out->gpus = larger(out->gpus, gpus_before);
    out->cpu_milli = larger(out->cpu_milli, cpu_before);
}

static dls_status put_pod(reading *r, json_object *meta, dls_kube_pod *pod, dls_error *err)
{
    char name[600];
    const char *uid = dls_kube_text(meta, "uid");
    snprintf(name, sizeof name, "%s/%s", dls_kube_text(meta, "namespace"), dls_kube_text(meta, "name"));
    return dls_kube_pods_put(&r->of_gangs, *uid ? uid : name, name, pod, err);
}

static dls_status read_pod(reading *r, json_object *pod, dls_error *err)
{
    json_object *meta = dls_kube_get(pod, "metadata"), *spec = dls_kube_get(pod, "spec");
    json_object *priority = dls_kube_get(spec, "priority");
    dls_kube_pod is = {.gpus = 0};
    gang *g;
    r->pods++;
    read_asked(r, spec, &is);
    if (is.gpus == 0) {
        json_object *notes = dls_kube_get(meta, "annotations");
        const bool part = dls_kube_get(notes, "gpu-fraction") || dls_kube_get(notes, "gpu-memory");
        *(part ? &r->parts : &r->without) += 1;
        return DLS_OK;
    }
    const char *group = group_of(meta);
    DLS_TRY(gang_of(r, dls_kube_text(meta, "namespace"), group, uid_of(meta, group), &g, err));
    is.gang = (int32_t)(g - r->gang);
    is.undated = !came(g, meta);
    const char *queue = dls_kube_text(dls_kube_get(meta, "labels"), "kueue.x-k8s.io/queue-name");
    const char *product = dls_kube_text(dls_kube_get(spec, "nodeSelector"), PRODUCT);
    if (*queue && g->queue < 0) {
        DLS_TRY(name_of(r, dls_kube_text(meta, "namespace"), queue, &g->queue, err));
    }
    if (*product) {
        DLS_TRY(name_of(r, "", product, &g->type, err));
    }
    DLS_TRY(set_kai_queue(r, g, dls_kube_text(dls_kube_get(meta, "labels"), KAI_QUEUE), err));
    g->priority = priority && json_object_get_int64(priority) >= 0 ? json_object_get_int64(priority)
                                                                   : g->priority;
    read_times(&is, pod);
    return put_pod(r, meta, &is, err);
}

/* Kueue holds a gang back before there are pods: it came when its Workload did. */
static dls_status read_workload(reading *r, json_object *load, dls_error *err)
{
    json_object *meta = dls_kube_get(load, "metadata"), *owner = owner_of(meta);
    const char *queue = dls_kube_text(dls_kube_get(load, "spec"), "queueName");
    gang *g;
    DLS_TRY(gang_of(r, dls_kube_text(meta, "namespace"), dls_kube_text(owner ? owner : meta, "name"),
                    dls_kube_text(owner, "uid"), &g, err));
    if (*queue) {
        DLS_TRY(name_of(r, dls_kube_text(meta, "namespace"), queue, &g->queue, err));
    }
    came(g, meta);
    return DLS_OK;
}

/* KAI's, by its annotation and what it says of queues; others have PodGroups, too. */
static dls_status read_pod_group(reading *r, json_object *group, dls_error *err)
{
    json_object *meta = dls_kube_get(group, "metadata");
    const char *queue = dls_kube_text(dls_kube_get(group, "spec"), "queue");
    gang *g;
    if (strncmp(dls_kube_text(group, "apiVersion"), DLS_KUBE_KAI, strlen(DLS_KUBE_KAI)) != 0) {
        r->other++;
        return DLS_OK;
    }
    DLS_TRY(gang_of(r, dls_kube_text(meta, "namespace"), dls_kube_text(meta, "name"), "", &g, err));
    came(g, meta);
    return set_kai_queue(r, g, queue, err);
}

static dls_status read_local_queue(reading *r, json_object *queue, dls_error *err)
{
    json_object *meta = dls_kube_get(queue, "metadata");
    int32_t local, cluster;
    DLS_TRY(name_of(r, "", dls_kube_text(dls_kube_get(queue, "spec"), "clusterQueue"), &cluster, err));
    DLS_TRY(name_of(r, dls_kube_text(meta, "namespace"), dls_kube_text(meta, "name"), &local, err));
    r->cluster_of[local] = cluster + 1;
    return DLS_OK;
}

static dls_status read_item(void *user, dls_walk *w, json_object *item, dls_error *err)
{
    reading *r = user;
    static const struct {
        const char *kind;
        dls_status (*read)(reading *r, json_object *item, dls_error *err);
    } kinds[] = {{"Node", read_node},
                 {"Pod", read_pod},
                 {"Workload", read_workload},
                 {"PodGroup", read_pod_group},
                 {"LocalQueue", read_local_queue}};
    const char *kind = dls_kube_text(item, "kind");
    const size_t i = DLS_NAMED(kinds, kind);
    if (i < sizeof kinds / sizeof kinds[0]) {
        return kinds[i].read(r, item, err);
    }
    bool is = strcmp(kind, "ConfigMap") == 0 && dls_kube_quotas_config(&r->quotas, item);
    if (is) {
        return DLS_OK;
    }
    DLS_TRY(dls_kube_quotas_read(&r->quotas, w, kind, item, &is, err));
    r->other += !is;
    return DLS_OK;
}

static dls_status read_list(reading *r, dls_error *err)
{
    DLS_TRY(dls_walk_enter(&r->w, '{', err));
    for (bool more;;) {
        char key[DLS_WALK_TEXT];
        DLS_TRY(dls_walk_key(&r->w, key, &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(strcmp(key, "items") == 0 ? dls_walk_objects(&r->w, read_item, r, err) : dls_walk_skip(&r->w, err));
    }
}

/* One list after the other, as they were dumped. */
static dls_status read_all(reading *r, dls_error *err)
{
    do {
        DLS_TRY(read_list(r, err));
        r->w.p += strspn(r->w.p, " \t\r\n");
    } while (*r->w.p == '{');
    return dls_walk_end(&r->w, err);
}

/* ---- the trace ------------------------------------------------------------------------------- */

/* The virtual cluster of a gang: its queue of KAI, else its cluster queue, else its namespace. */
static const char *queue_of(const reading *r, const gang *g)
{
    const int32_t cluster = g->queue >= 0 ? r->cluster_of[g->queue] : 0;
    return dls_strdict_get(&r->names, g->kai >= 0 ? g->kai : cluster > 0 ? cluster - 1 : g->space);
}

static dls_status add_gang(const reading *r, int32_t code, dls_trace_builder *b, dls_error *err)
{
    const gang *g = &r->gang[code];
    const dls_kube_gathered *all = &r->gathered[code];
    const char *skip = !all->some     ? "a workload without pods"
                       : all->undated ? "a pod without creationTimestamp"
                       : all->unbound ? "a pod that was never bound"
                       : all->running ? "no end (still running, or lost)"
                       : all->end_us < all->start_us ? "the end lies before the start"
                                                     : NULL;
    dls_job_rec rec;
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    dls_job_rec_init(&rec);
    rec.id = dls_strdict_get(&r->keys, code);
    rec.submit_us = g->submit_us < all->start_us ? g->submit_us : all->start_us;
    rec.queue_us = all->start_us - rec.submit_us;
    rec.duration_us = all->end_us - all->start_us;
    rec.gpus_milli = 1000 * all->gpus;
    rec.cpu_milli = all->cpu_milli > 0 ? all->cpu_milli : DLS_ABSENT;
    rec.nodes = DLS_ABSENT;
    rec.priority = g->priority;
    rec.outcome = all->failed ? DLS_OUTCOME_FAILED : DLS_OUTCOME_COMPLETED;
    rec.vc = queue_of(r, g);
    rec.job_class = dls_strdict_get(&r->names, g->space);
    rec.gpu_types = g->type >= 0 ? dls_strdict_get(&r->names, g->type) : NULL;
    return dls_trace_builder_add(b, &rec, rec.id, err);
}

static dls_status make_trace(const reading *r, dls_trace **out, dls_error *err)
{
    DLS_HOLD(dls_trace_builder_destroy) dls_trace_builder *b = NULL;
    DLS_TRY(dls_trace_builder_create(NULL, &b, err));
    dls_trace_builder_rebase(b, "Z");
    for (size_t k = 0; k < r->keys.n; k++) {
        DLS_TRY(add_gang(r, (int32_t)k, b, err));
    }
    return dls_trace_builder_end(dls_take(&b), DLS_OK, out, err);
}

/* ---- the site -------------------------------------------------------------------------------- */

static dls_status put_cluster(FILE *cfg, void *what, dls_error *err)
{
    const reading *r = what;
    dls_site_nodes_put(&r->nodes, "kubernetes", cfg);
    fputs("placement: { name = \"consolidated\"; };\n", cfg);
    const char *file = dls_kube_quotas_file(&r->quotas);
    if (file && r->quotas.n_kai == 0) {
        fprintf(cfg, "scheduler: { name = \"kueue\"; cohorts = \"%s\"; fair_sharing = \"%s\"; };\n", file,
                dls_kube_quotas_fair(&r->quotas));
    } else {
        fprintf(cfg, file ? "scheduler: { name = \"fair-share\"; queues = \"%s\"; };\n" : "scheduler: { name = \"fifo\"; };\n",
                file);
    }
    return DLS_OK;
}

static dls_status write_all(reading *r, const char *objects, const char *folder, const dls_trace *trace, dls_error *err)
{
    const char *file = dls_kube_quotas_file(&r->quotas);
    char config[4096], quotas[4096], jobs[4096], pods[4096];
    DLS_TRY(dls_site_path(folder, "cluster.cfg", &objects, 1, config, sizeof config, err));
    DLS_TRY(dls_site_path(folder, file ? file : "", &objects, 1, quotas, sizeof quotas, err));
    DLS_TRY(dls_site_path(folder, "trace.csv", &objects, 1, jobs, sizeof jobs, err));
    DLS_TRY(dls_site_path(folder, "pods.csv", &objects, 1, pods, sizeof pods, err));
    DLS_TRY(dls_folder_make(folder, err));
    DLS_TRY(dls_kube_pods_write(&r->of_gangs, &r->keys, pods, err));
    DLS_TRY(dls_atomicfile_write(config, put_cluster, r, err));
    if (file) {
        DLS_TRY(dls_atomicfile_write(quotas, dls_kube_quotas_put, &r->quotas, err));
    }
    return dls_trace_save_csv(trace, jobs, err);
}

static void report(const reading *r, const char *objects, const dls_trace *trace, FILE *to)
{
    const dls_trace_info *info = dls_trace_about(trace);
    fprintf(to, "%s: %zu gangs of %zu pods from %s on; %d nodes with %lld GPUs, %zu quotas\n",
            objects, dls_trace_cols(trace)->n, r->pods, info->epoch,
            (int)(r->nodes.total - r->nodes.without), (long long)r->nodes.total_gpus, r->quotas.n);
    if (r->without > 0 || r->other > 0 || r->nodes.without > 0) {
        fprintf(to, "  left out: %zu pods and %d nodes without GPUs, %zu objects of other kinds\n",
                r->without, (int)r->nodes.without, r->other);
    }
    size_t apart = 0, again = 0;
    for (size_t i = 0; i < r->keys.n; i++) {
        again += r->gang[i].lives > 1 ? (size_t)r->gang[i].lives - 1 : 0;
        apart += r->gathered[i].gpus > 0 && r->gathered[i].gpus < r->gathered[i].all_gpus;
    }
    if (apart > 0) {
        fprintf(to, "  %zu gangs had pods one after the other: as large as most of them at once\n", apart);
    }
    if (again > 0) {
        fprintf(to, "  %zu gangs were made anew under the name of one before: each a job of its own\n", again);
    }
    if (r->of_gangs.again + r->nodes_again > 0) {
        fprintf(to, "  listed before: %zu pods, %zu nodes\n", r->of_gangs.again, r->nodes_again);
    }
    if (r->foreign > 0) {
        fprintf(to, "  not read: %zu containers that ask for GPUs by another name (the first: %s)\n", r->foreign, r->first_foreign);
    }
    if (r->parts > 0) {
        fprintf(to, "  left out: %zu pods with a part of a GPU (gpu-fraction, gpu-memory)\n", r->parts);
    }
    dls_kube_quotas_report(&r->quotas, r->nodes.total_gpus, to);
    for (const char *line = info->notes; *line; line += strcspn(line, "\n") + 1) {
        fprintf(to, "  %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

static dls_status import(reading *r, const char *objects, const char *folder, FILE *to,
                         dls_error *err)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_TRY(read_all(r, err));
    DLS_TRY(dls_kube_quotas_check(&r->quotas, objects, err));
    if (r->nodes.total_gpus == 0) {
        return dls_fail(err, DLS_EINPUT, objects,
                        "no node with " DLS_KUBE_GPU ": is it the output of `kubectl get nodes,pods -A -o "
                        "json`?");
    }
    DLS_TRY(dls_alloc_array(&r->gathered, r->keys.n + 1, sizeof *r->gathered, "gangs", err));
    DLS_TRY(dls_kube_pods_gather(&r->of_gangs, r->keys.n, r->gathered, err));
    DLS_TRY(make_trace(r, &trace, err));
    report(r, objects, trace, to);
    return write_all(r, objects, folder, trace, err);
}

static void reading_fini(reading *r)
{
    dls_walk_fini(&r->w);
    dls_strdict_fini(&r->keys);
    dls_strdict_fini(&r->names);
    dls_strdict_fini(&r->uids);
    dls_strdict_fini(&r->node_names);
    dls_kube_pods_fini(&r->of_gangs);
    dls_kube_quotas_fini(&r->quotas);
    dls_site_nodes_fini(&r->nodes);
    DLS_FREE_ALL(r->gang, r->of_uid, r->gathered, r->cluster_of);
}

dls_status dls_site_import_kubernetes(const char *objects, const char *folder, FILE *to,
                                      dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_OWN(reading_fini) reading r = {.pods = 0};
    DLS_FREED char *bytes = NULL;
    size_t len;
    DLS_TRY(dls_file_read_text(objects, DLS_FILE_TRACE, &bytes, &len, err));
    const dls_trace_source src = {.path = objects, .text = bytes, .len = len};
    DLS_TRY(dls_walk_init(&r.w, &src, err));
    return import(&r, objects, folder, to, err);
}
