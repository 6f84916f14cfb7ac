/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs one schedule of the Tiresias simulator: the table of schedules with their runners, and the
 * checks of what the original supports.
 */
#include "base/own.h"
#include "base/suggest.h"
#include "tiresias/core.h"
#include "tiresias/tiresias.h"

#include <string.h>

/* XX(name, schemes, family under count, family under the other scheme, needs samples, twice the
 * starvation knob, summary). A Gittins schedule with a knob is the plain one in the original: its
 * test for the name fails. */
#define SCHEDULES(XX)                                                                              \
    XX("fifo", "count yarn", batch, batch, 0, 0, "first in, first out; the head blocks the rest")  \
    XX("fjf", "count yarn", batch, batch, 0, 0, "first job that fits, in order of arrival")        \
    XX("lpjf", "count yarn", batch, batch, 0, 0, "fifo that skips the job behind each start")      \
    XX("sjf", "count yarn", shortest, sorted_yarn, 0, 0, "fewest GPUs first, preemptive")          \
    XX("shortest", "count yarn", shortest, sorted_yarn, 0, 0, "shortest remaining time first")     \
    XX("shortest-gpu", "count yarn", shortest, sorted_yarn, 0, 0,                                  \
       "least remaining time x GPUs first")                                                        \
    XX("shortest-expected", "count yarn", shortest, sorted_yarn, 1, 0,                             \
       "by expected remaining time, written to the wrong job as there")                            \
    XX("dlas", "count yarn", queues, queues, 0, 0, "least attained service (time), three queues")  \
    XX("dlas-gpu", "count yarn", queues, queues, 0, 0,                                             \
       "least attained service (GPU time), three queues")                                          \
    XX("dlas-gpu-pack", "count yarn", queues, queues, 0, 0, "the same jobs as dlas-gpu")           \
    XX("dlas-gpu-05", "count yarn", queues, queues, 0, 1, "dlas-gpu that promotes starving jobs")  \
    XX("dlas-gpu-1", "count yarn", queues, queues, 0, 2, "the same, starvation knob 1")            \
    XX("dlas-gpu-2", "count yarn", queues, queues, 0, 4, "the same, starvation knob 2")            \
    XX("dlas-gpu-4", "count yarn", queues, queues, 0, 8, "the same, starvation knob 4")            \
    XX("dlas-gpu-8", "count yarn", queues, queues, 0, 16, "the same, starvation knob 8")           \
    XX("dlas-gpu-10", "count yarn", queues, queues, 0, 20, "the same, starvation knob 10")         \
    XX("dlas-gpu-100", "count yarn", queues, queues, 0, 200, "the same, starvation knob 100")      \
    XX("dlas-gpu-1000", "count yarn", queues, queues, 0, 2000, "the same, starvation knob 1000")   \
    XX("dlas-gpu-gittins", "count yarn", queues, queues, 1, 0, "queues ordered by Gittins index")  \
    XX("dlas-gpu-gittins-1", "count yarn", queues, queues, 0, 2, "the same jobs as dlas-gpu-1")    \
    XX("dlas-gpu-gittins-2", "count yarn", queues, queues, 0, 4, "the same jobs as dlas-gpu-2")    \
    XX("dlas-gpu-gittins-4", "count yarn", queues, queues, 0, 8, "the same jobs as dlas-gpu-4")    \
    XX("dlas-gpu-gittins-8", "count yarn", queues, queues, 0, 16, "the same jobs as dlas-gpu-8")   \
    XX("multi-dlas-gpu", "count", queues, queues, 0, 0, "two queues and a GPU share per job size") \
    XX("gandiva", "gandiva", gandiva, gandiva, 0, 0, "time slicing in node sets, 10-second ticks")

static const dls_tiresias_schedule schedules[] = {
#define XX(name, schemes, count, other, samples, knob2, summary)                                   \
    {name, schemes, schemes " - " summary, samples},
    SCHEDULES(XX)
#undef XX
};
#define N_SCHEDULES (sizeof schedules / sizeof schedules[0])

/* Beside each schedule: how it runs under count, and under the other scheme. */
static const struct {
    const dls_tir_family *family[2];
    int32_t knob2;
} runners[] = {
#define XX(name, schemes, count, other, samples, knob2, summary)                                   \
    {{&dls_tir_family_##count, &dls_tir_family_##other}, knob2},
    SCHEDULES(XX)
#undef XX
};

/* Names that the original's command line knows and that do nothing sensible there. */
static const struct {
    const char *name, *why;
} refused[] = {
    {"gittins", "crashes in the original; use dlas-gpu-gittins"},
    {"gpu-demands", "schedules nothing; use another schedule"},
    {"random", "crashes in the original at the first completion; use yarn or count"},
    {"crandom", "crashes in the original at the first completion; use yarn or count"},
    {"greedy", "is a stub in the original that takes no GPUs; use count"},
    {"balance", "is a stub in the original that never places a job; use yarn or count"},
    {"cballance", "is a misspelling that the original runs as yarn; use yarn"},
    {"cbalance", "is run as yarn by the original; use yarn"},
    {"ms_yarn", "is run as yarn by the original; use yarn"},
};

const dls_tiresias_schedule *dls_tiresias_schedules(size_t *n)
{
    *n = N_SCHEDULES;
    return schedules;
}

static dls_status unknown(const char *what, const char *name, const char *const *candidates,
                          dls_error *err)
{
    const size_t i = DLS_NAMED(refused, name);
    if (i < sizeof refused / sizeof refused[0]) {
        return dls_fail(err, DLS_EUSAGE, NULL, "%s '%s' %s", what, name, refused[i].why);
    }
    return dls_fail(err, DLS_EUSAGE, NULL, "unknown %s '%s'%s", what, name,
                    DLS_DID_YOU_MEAN(dls_suggest(name, candidates)));
}

static dls_status check_cluster(const dls_tiresias_cluster *k, dls_error *err)
{
    const int64_t nodes = (int64_t)k->switches * k->nodes_per_switch;
    if (k->switches < 1 || k->nodes_per_switch < 1 || k->gpus_per_node < 1 ||
        k->cpus_per_node < 0 || k->mem_gb_per_node < 0) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "the cluster needs at least one switch, node and GPU, and no negative CPUs "
                        "or memory");
    }
    if (nodes > INT32_MAX || nodes * k->gpus_per_node > INT32_MAX) {
        return dls_fail(err, DLS_EINPUT, NULL, "the cluster has more than %d GPUs", INT32_MAX);
    }
    return DLS_OK;
}

dls_status dls_tiresias_check(const dls_tiresias_params *p, dls_error *err)
{
    static const char *const schemes[] = {"count", "yarn", "gandiva", NULL};
    const char *names[N_SCHEDULES + 1] = {NULL};
    for (size_t k = 0; k < N_SCHEDULES; k++) {
        names[k] = schedules[k].name;
    }
    const size_t i = DLS_NAMED(schedules, p->schedule);
    if (i == N_SCHEDULES) {
        return unknown("schedule", p->schedule, names, err);
    }
    if (DLS_NAMED(schemes, p->scheme) == sizeof schemes / sizeof *schemes) {
        return unknown("scheme", p->scheme, schemes, err);
    }
    if (!strstr(schedules[i].schemes, p->scheme)) {
        return dls_fail(
            err, DLS_EUSAGE, NULL, "schedule '%s' works with scheme %s, not with '%s'", p->schedule,
            strchr(schedules[i].schemes, ' ') ? "count or yarn" : schedules[i].schemes, p->scheme);
    }
    return check_cluster(&p->cluster, err);
}

dls_status dls_tiresias_run(const dls_tiresias_params *p, const dls_trace *trace, dls_record *rec,
                            dls_error *err)
{
    DLS_TRY(dls_tiresias_check(p, err));
    const size_t i = DLS_NAMED(schedules, p->schedule);
    dls_tiresias_params filled = *p;
    DLS_FREED int64_t *loaded = NULL;
    if (schedules[i].needs_samples && !p->samples) {
        DLS_TRY(dls_tiresias_load_samples(p->samples_path, &loaded, &filled.n_samples, err));
        filled.samples = loaded;
    } else if (!schedules[i].needs_samples) {
        filled.samples = NULL;
    }
    const bool by_count = strcmp(p->scheme, "count") == 0;
    return dls_tir_run(runners[i].family[!by_count], runners[i].knob2, &filled, trace, rec, err);
}
