/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Equality with the published simulators of Gavel and Shockwave: every column of every job of the
 * runs whose policy is deterministic, to 1e-3 s, and who ran where in every round of the small
 * ones. Runs of policies with several optima are held to their average completion time.
 */
#define OWN_MAIN
#include "base/alloc.h"
#include "base/csv.h"
#include "base/file.h"
#include "gavel/gavel.h"
#include "support/shared.h"
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <string.h>

static char shared[1024];

/* How far the average may be from the golden one; 0: every job is equal. Policies that are not
 * named are not replayed. */
static const struct expected {
    const char *policy;
    double one_type, types; /* relative */
} policies[] = {
    {"isolated", 0, 0},
    {"gandiva_fair", 0, 0},
    {"fifo", 0, 0},
    {"fifo_perf", 0, 0},
    {"fifo_packed", 0, 0},
    {"gandiva", 0, 0},
    {"allox", 0, 0},
    {"max_min_fairness", 0.005, 0.02}, /* types that are alike: rounding decides */
    {"max_min_fairness_perf", 0.005, 0.005},
    {"max_min_fairness_water_filling", 0.01, 0.01},
    {"max_sum_throughput_perf", 0.002, 0.002},
    {"min_total_duration", 0.002, 0.002},
    {"min_total_duration_perf", 0.002, 0.002},
    {"finish_time_fairness", 0.005, 0.02},
    {"finish_time_fairness_perf", 0.005, 0.005},
};

static const struct trace {
    const char *name, *path;
    int32_t gpus_per_server;
} traces[] = {
    {"art", "data/gavel/traces/physical_cluster/artifact_evaluation.trace", 1},
    {"mmf", "data/gavel/traces/physical_cluster/max_min_fairness.trace", 4},
    {"mk", "data/gavel/traces/physical_cluster/minimize_makespan.trace", 4},
    {"g60", "golden/gavel/traces/g60.trace", 1},
    {"g200m", "golden/gavel/traces/g200m.trace", 4},
    {"g200mp", "golden/gavel/traces/g200mp.trace", 4},
    {"g500", "golden/gavel/traces/g500.trace", 4},
};

#define SHOCKWAVE_TRACE                                                                            \
    "data/shockwave_tacc/traces/reproduce/"                                                        \
    "120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace"

typedef struct told {
    char *text, *at; /* the golden rounds; NULL: none for this run */
    size_t rounds;
} told;

static bool ran(const dls_gavel_run *run, size_t n, const char *token)
{
    for (size_t i = 0; i < n; i++) {
        char text[256];
        const dls_gavel_run *r = &run[i];
        int len = r->b < 0 ? snprintf(text, sizeof text, "%d", (int)r->a)
                           : snprintf(text, sizeof text, "%d+%d", (int)r->a, (int)r->b);
        for (int32_t k = 0; k < r->gpus && len < 200; k++) {
            len += snprintf(text + len, sizeof text - (size_t)len, "%c%d", k == 0 ? ':' : '/',
                            (int)r->gpu[k]);
        }
        if (strcmp(text, token) == 0) {
            return true;
        }
    }
    return false;
}

static dls_status compare_round(void *user, size_t round, double now_s, const dls_gavel_run *run,
                                size_t n, dls_error *err)
{
    told *t = user;
    if (!t->at) {
        return DLS_OK;
    }
    char *line = strsep(&t->at, "\n");
    const size_t number = strtoull(strsep(&line, ","), NULL, 10);
    const double time_s = strtod(strsep(&line, ","), NULL);
    size_t tokens = 0;
    assert_int_equal(number, round);
    assert_true(fabs(time_s - now_s) <= 1e-3);
    for (char *token; (token = strsep(&line, " ")) && *token; tokens++) {
        if (!ran(run, n, token)) {
            fail_msg("round %zu: %s does not run", round, token);
        }
    }
    assert_int_equal(tokens, n);
    t->rounds++;
    return DLS_OK;
}

static void read_rounds(const char *run, told *t)
{
    char path[2048], *packed;
    size_t len;
    *t = (told){0};
    snprintf(path, sizeof path, "%s/golden/gavel/rounds/%s.csv.gz", shared, run);
    if (access(path, R_OK) == 0) {
        assert_int_equal(dls_file_read(path, DLS_FILE_TABLE, &packed, &len, NULL), DLS_OK);
        assert_int_equal(dls_file_gunzip(path, packed, len, DLS_FILE_TABLE, &t->text, &len, NULL),
                         DLS_OK);
        dls_free(packed);
        t->at = t->text;
    }
}

/* The columns of a golden file that are compared; those of types that a cluster has not are not
 * there. */
static const char *const columns[] = {"start",      "end",          "jct",         "rounds",
                                      "preempt",    "migrate",      "rounds_v100", "rounds_p100",
                                      "rounds_k80", "rounds_packed"};
enum { JCT = 2, N_COLUMNS = sizeof columns / sizeof *columns };

static void columns_of(const dls_gavel_job *j, double arrival_s, double out[N_COLUMNS])
{
    const double own[N_COLUMNS] = {j->start_s,
                                   j->end_s,
                                   j->end_s < 0 ? -1 : j->end_s - arrival_s,
                                   (double)j->rounds,
                                   (double)j->preempted,
                                   (double)j->migrated,
                                   (double)j->rounds_on[2],
                                   (double)j->rounds_on[1],
                                   (double)j->rounds_on[0],
                                   (double)j->rounds_packed};
    memcpy(out, own, sizeof own);
}

/* The jobs are compared if they are to be equal, else the average. */
static void compare_jobs(const char *run, const char *path, const dls_trace *trace,
                         const dls_gavel_result *got, double within)
{
    dls_csv csv;
    int col[N_COLUMNS];
    size_t wrong = 0, n = 0, ended = 0;
    double golden_s = 0, own_s = 0;
    assert_int_equal(dls_csv_open(&csv, path, NULL), DLS_OK);
    assert_int_equal(dls_csv_header(&csv, NULL), DLS_OK);
    for (int i = 0; i < N_COLUMNS; i++) {
        col[i] = dls_csv_find(&csv, columns[i]);
        assert_true(col[i] >= 0 || i >= 7);
    }
    for (bool more; dls_csv_next(&csv, &more, NULL) == DLS_OK && more; n++) {
        double own[N_COLUMNS], golden[N_COLUMNS];
        bool equal = true;
        columns_of(&got->job[n], (double)dls_trace_cols(trace)->submit_us[n] / 1e6, own);
        for (int i = 0; i < N_COLUMNS; i++) {
            golden[i] = col[i] < 0 ? 0 : -1;
            if (!dls_csv_missing(&csv, col[i])) {
                golden[i] = strtod(dls_csv_text(&csv, col[i]), NULL);
            }
            equal &= fabs(own[i] - golden[i]) <= 1e-3;
        }
        if (!equal && wrong++ < 3 && within == 0) {
            print_error("%s: job %zu: %.6f to %.6f in %.0f rounds, expected %.6f to %.6f in %.0f\n",
                        run, n, own[0], own[1], own[3], golden[0], golden[1], golden[3]);
        }
        golden_s += fmax(golden[JCT], 0);
        own_s += fmax(own[JCT], 0);
        ended += golden[JCT] > 0;
    }
    dls_csv_fini(&csv);
    assert_int_equal(n, dls_trace_cols(trace)->n);
    printf("%s: %zu of %zu jobs equal, average JCT %+.3f %%\n", run, n - wrong, n,
           100 * (own_s / golden_s - 1));
    assert_true(ended > 0);
    if (within == 0) {
        assert_int_equal(0, wrong);
    } else if (within > 0) {
        assert_true(fabs(own_s / golden_s - 1) <= within);
    }
}

static const struct expected *expected_of(const char *policy)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (strcmp(policies[i].policy, policy) == 0) {
            return &policies[i];
        }
    }
    return NULL;
}

static void replay(const char *folder, const char *run, const char *trace_name,
                   const char *throughputs, dls_gavel_params *p)
{
    char path[2048];
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_OWN(dls_gavel_result_fini) dls_gavel_result got = {0};
    dls_error err = {0};
    told rounds;
    const struct expected *e = expected_of(p->policy);
    read_rounds(run, &rounds);
    p->on_round = e->types == 0 ? compare_round : NULL;
    p->user = &rounds;
    snprintf(path, sizeof path, "%s/%s", shared, trace_name);
    if (dls_trace_load(path, "gavel", &(dls_trace_options){0}, &trace, &err) != DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
    snprintf(path, sizeof path, "%s/%s", shared, throughputs);
    if (dls_gavel_replay(p, path, trace, &got, &err) != DLS_OK) {
        fail_msg("%s: %s", run, err.msg);
    }
    if (rounds.at && p->on_round) {
        assert_true(*rounds.at == '\0');
        assert_int_equal(rounds.rounds, got.rounds);
    }
    snprintf(path, sizeof path, "%s/%s/%s.csv", shared, folder, run);
    const bool one_type = (p->gpus[0] > 0) + (p->gpus[1] > 0) + (p->gpus[2] > 0) == 1;
    compare_jobs(run, path, trace, &got, one_type ? e->one_type : e->types);
    dls_free(rounds.text);
}

/* "g60__4-4-4__fifo.csv": trace, GPUs of v100, p100 and k80, policy. */
TEST(gavel_runs)
{
    char folder[2048];
    struct dirent **names;
    int n;
    size_t done = 0, known = 0;
    snprintf(folder, sizeof folder, "%s/golden/gavel/runs", shared);
    assert_int_equal(dls_file_names(folder, &names, &n, NULL), DLS_OK);
    for (int i = 0; i < n; i++) {
        char run[256], copy[256];
        snprintf(copy, sizeof copy, "%s", names[i]->d_name);
        *strstr(copy, ".csv") = '\0';
        memcpy(run, copy, sizeof run);
        char *policy = strrchr(copy, '_') ? strstr(strstr(copy, "__") + 2, "__") + 2 : NULL;
        if (!policy || !expected_of(policy) || known++ % EACH > 0) {
            continue;
        }
        dls_gavel_params p = {.policy = policy, .round_s = 360};
        assert_int_equal(
            3, sscanf(strstr(copy, "__") + 2, "%d-%d-%d", &p.gpus[2], &p.gpus[1], &p.gpus[0]));
        *strstr(copy, "__") = '\0';
        for (size_t t = 0; t < sizeof traces / sizeof *traces; t++) {
            if (strcmp(traces[t].name, copy) == 0) {
                p.gpus_per_server = traces[t].gpus_per_server;
                replay("golden/gavel/runs", run, traces[t].path,
                       "data/gavel/simulation_throughputs.json", &p);
                done++;
            }
        }
    }
    dls_file_free_names(names, n);
    assert_true(done >= 91 / EACH);
}

TEST(shockwave_runs)
{
    size_t done = 0;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        char run[256], path[2048];
        snprintf(run, sizeof run, "tacc120__%s", policies[i].policy);
        snprintf(path, sizeof path, "%s/golden/shockwave/runs/%s.csv", shared, run);
        if (access(path, R_OK) == 0) {
            dls_gavel_params p = {.policy = policies[i].policy,
                                  .shockwave = true,
                                  .gpus = {0, 0, 32},
                                  .gpus_per_server = 4,
                                  .round_s = 120};
            replay("golden/shockwave/runs", run, SHOCKWAVE_TRACE,
                   "data/shockwave_tacc/tacc_throughputs.json", &p);
            done++;
        }
    }
    assert_true(done >= 3);
}

int main(void)
{
    if (!shared_path("golden/gavel", shared, sizeof shared)) {
        return 77;
    }
    snprintf(shared, sizeof shared, "%s", getenv("DLSIM_SHARED"));
    return run_listed();
}
