/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The compatibility engine against an independent reference in Python, on random small traces and
 * clusters: every schedule, both arithmetics, per job and in the order of ending. tiresias_cases.py
 * draws the cases and runs the reference; arguments: [cases [seed]].
 */
#define OWN_MAIN
#include "support/shared.h"
#include "support/test.h"
#include "support/trace_of.h"
#include "tiresias/tiresias.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_JOBS 64
#define MAX_SAMPLES 130

typedef struct expected {
    long long gpus, submit, duration, start, end, pending, preempt, resume, promote, service;
    char status[16];
} expected;

typedef struct one_case {
    char schedule[32], scheme[16];
    dls_tiresias_params p;
    int64_t samples[MAX_SAMPLES];
    expected job[MAX_JOBS];
    int n;
    int32_t ended[MAX_JOBS];
    int n_ended;
} one_case;

static int n_cases = 2000, seed = 1;
static const char *reference_folder;

static int read_numbers(const char *text, int64_t *out, int max)
{
    int n = 0;
    char *end;
    for (; n < max; n++, text = end) {
        out[n] = strtoll(text, &end, 10);
        if (end == text) {
            break;
        }
    }
    return n;
}

/* One block; false at the end of the input. */
static bool read_case(FILE *f, one_case *c)
{
    char line[4096];
    int python3;
    memset(c, 0, sizeof *c);
    c->p = DLS_TIRESIAS_DEFAULTS;
    dls_tiresias_cluster *k = &c->p.cluster;
    if (!fgets(line, sizeof line, f)) {
        return false;
    }
    assert_int_equal(sscanf(line, "case %31s %15s %d %d %d %d %d %d", c->schedule, c->scheme,
                            &python3, &k->switches, &k->nodes_per_switch, &k->gpus_per_node,
                            &k->cpus_per_node, &k->mem_gb_per_node),
                     8);
    c->p.schedule = c->schedule;
    c->p.scheme = c->scheme;
    c->p.python3 = python3;
    assert_non_null(fgets(line, sizeof line, f));
    c->p.n_samples = (size_t)read_numbers(line + strlen("samples"), c->samples, MAX_SAMPLES);
    c->p.samples = c->samples;
    while (fgets(line, sizeof line, f) && strncmp(line, "job ", 4) == 0) {
        expected *e = &c->job[c->n++];
        assert_int_equal(sscanf(line, "job %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %15s",
                                &e->gpus, &e->submit, &e->duration, &e->start, &e->end, &e->pending,
                                &e->preempt, &e->resume, &e->promote, &e->service, e->status),
                         11);
    }
    assert_true(strncmp(line, "ended", 5) == 0);
    int64_t ended[MAX_JOBS];
    c->n_ended = read_numbers(line + strlen("ended"), ended, MAX_JOBS);
    for (int i = 0; i < c->n_ended; i++) {
        c->ended[i] = (int32_t)ended[i];
    }
    return true;
}

static dls_trace *build_trace(const one_case *c)
{
    dls_trace *trace;
    EACH_JOB(job, c->n, &trace) {
        job.rec.gpus_milli = c->job[job.i].gpus * 1000;
        job.rec.submit_us = c->job[job.i].submit * DLS_US_PER_S;
        job.rec.duration_us = c->job[job.i].duration * DLS_US_PER_S;
    }
    return trace;
}

static long long seconds(int64_t us)
{
    return us < 0 ? -1 : us / DLS_US_PER_S;
}

static const char *state_name(uint8_t state)
{
    return state == DLS_JOB_FINISHED ? "END" : state == DLS_JOB_RUNNING ? "RUNNING" : "PENDING";
}

static bool same_job(const expected *e, const dls_record *rec, int j)
{
    return seconds(rec->start_us[j]) == e->start && seconds(rec->end_us[j]) == e->end &&
           seconds(rec->pending_us[j]) == e->pending && rec->preempts[j] == e->preempt &&
           rec->resumes[j] == e->resume && rec->promotes[j] == e->promote &&
           (e->service < 0 || seconds(rec->executed_us[j]) == e->service) &&
           strcmp(state_name(rec->state[j]), e->status) == 0;
}

/* GPU time in use, event by event. */
typedef struct usage {
    const dls_tiresias_cluster *k;
    int64_t t_s, busy_gpus, gpu_s;
} usage;

static dls_status add_up(void *user, const dls_tiresias_event *e, dls_error *err)
{
    usage *u = user;
    int64_t held = 0;
    for (int32_t i = 0; e->node && i < e->n_nodes; i++) {
        const dls_tiresias_node *node = &e->node[i];
        assert_in_range(node->free_gpus, 0, u->k->gpus_per_node);
        assert_in_range(node->free_cpus, 0, u->k->cpus_per_node);
        held += u->k->gpus_per_node - node->free_gpus;
    }
    assert_true(!e->node || held == e->busy_gpus);
    assert_in_range(e->busy_gpus, 0, (int64_t)e->n_nodes * u->k->gpus_per_node);
    u->gpu_s += u->busy_gpus * (e->t_s - u->t_s);
    u->t_s = e->t_s;
    u->busy_gpus = e->busy_gpus;
    return DLS_OK;
}

/* It must be what the jobs ran. */
static void check_usage(const one_case *c, const dls_record *rec, const usage *u, int number)
{
    int64_t ran_us = 0;
    for (int j = 0; j < c->n; j++) {
        ran_us += rec->executed_us[j] * c->job[j].gpus;
    }
    if (u->gpu_s * DLS_US_PER_S != ran_us && strcmp(c->schedule, "gandiva") != 0) {
        fail_msg("case %d (seed %d): GPU time held %lld s, used %lld s", number, seed,
                 (long long)u->gpu_s, seconds(ran_us));
    }
}

static void check_case(one_case *c, int number)
{
    dls_error err = {0};
    dls_record *rec;
    int32_t order[MAX_JOBS];
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = build_trace(c);
    assert_int_equal(dls_record_create((size_t)c->n, &rec, &err), DLS_OK);
    usage used = {.k = &c->p.cluster};
    c->p.completed = order;
    c->p.on_event = add_up;
    c->p.user = &used;
    if (dls_tiresias_run(&c->p, trace, rec, &err) != DLS_OK) {
        fail_msg("case %d (seed %d): %s", number, seed, err.msg);
    }
    for (int j = 0; j < c->n; j++) {
        if (!same_job(&c->job[j], rec, j)) {
            fail_msg(
                "case %d (seed %d, %s, %s): job %d: start %lld end %lld pending %lld preempt %d "
                "resume %d promote %d executed %lld %s; expected %lld %lld %lld %lld %lld %lld "
                "%lld %s",
                number, seed, c->schedule, c->scheme, j, seconds(rec->start_us[j]),
                seconds(rec->end_us[j]), seconds(rec->pending_us[j]), rec->preempts[j],
                rec->resumes[j], rec->promotes[j], seconds(rec->executed_us[j]),
                state_name(rec->state[j]), c->job[j].start, c->job[j].end, c->job[j].pending,
                c->job[j].preempt, c->job[j].resume, c->job[j].promote, c->job[j].service,
                c->job[j].status);
        }
    }
    for (int i = 0; i < c->n_ended; i++) {
        if (order[i] != c->ended[i]) {
            fail_msg("case %d (seed %d, %s, %s): job %d ends as number %d, expected job %d", number,
                     seed, c->schedule, c->scheme, order[i], i, c->ended[i]);
        }
    }
    check_usage(c, rec, &used, number);
    dls_record_destroy(rec);
}

TEST(test_random_cases)
{
    char command[2 * PATH_MAX];
    const char *source = getenv("DLSIM_SOURCE");
    snprintf(command, sizeof command,
             "python3 '%s/tests/differential/tiresias_cases.py' '%s' %d %d", source ? source : ".",
             reference_folder, n_cases, seed);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    static one_case c;
    long jobs = 0, suspensions = 0;
    int n = 0;
    for (; read_case(f, &c); n++) {
        check_case(&c, n);
        jobs += c.n;
        for (int j = 0; j < c.n; j++) {
            suspensions += c.job[j].preempt;
        }
    }
    assert_int_equal(pclose(f), 0);
    assert_int_equal(n, n_cases);
    assert_true(suspensions > 0);
    printf("%d cases, %ld jobs with %ld suspensions equal the reference (seed %d)\n", n, jobs,
           suspensions, seed);
}

int main(int argc, char **argv)
{
    static char folder[PATH_MAX];
    char path[PATH_MAX + 32];
    if (!shared_path("tools", folder, sizeof folder) ||
        !shared_path("tools/tiresias_reference.py", path, sizeof path)) {
        return 77;
    }
    reference_folder = folder;
    if (system("python3 -c '' 2>/dev/null") != 0) {
        puts("skipped: no python3");
        return 77;
    }
    n_cases = argc > 1 ? atoi(argv[1]) : n_cases;
    seed = argc > 2 ? atoi(argv[2]) : seed;
    return run_listed();
}
