/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Axes, samples, points and their ids; comparisons of designs with several seeds.
 */

#include "base/alloc.h"
#include "results/compare.h"
#include "support/refuse.h"
#include "support/scratch.h"
#include "sweep/plan.h"
#include "sweep/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- samples --------------------------------------------------------------------------------- */

TEST(hypercubes)
{
    enum { N = 50, DIMS = 7 };
    double u[N * DIMS], again[N * DIMS];
    dls_sweep_lhs(N, DIMS, 3, u);
    for (size_t d = 0; d < DIMS; d++) {
        bool seen[N] = {false};
        for (size_t i = 0; i < N; i++) {
            const double at = u[i * DIMS + d];
            assert_true(at >= 0 && at < 1);
            const size_t slice = (size_t)(at * N);
            assert_false(seen[slice]); /* N points, N slices: one each */
            seen[slice] = true;
        }
    }
    /* The slices of a dimension come in no order, and no two dimensions in the same; a point lies
     * anywhere in its slice. Of 50 slices in random order 1 is where it would be in sequence, on
     * average; 15 would be a chance of 1e-12. */
    for (size_t d = 0; d < DIMS; d++) {
        size_t in_place = 0, beside = 0, low = 0;
        for (size_t i = 0; i < N; i++) {
            const double at = u[i * DIMS + d] * N, next = u[i * DIMS + (d + 1) % DIMS] * N;
            in_place += (size_t)at == i;
            beside += (size_t)at == (size_t)next;
            low += at - floor(at) < 0.5;
        }
        assert_true(in_place < 15 && beside < 15);
        assert_true(low > 5 && low < 45);
    }
    dls_sweep_lhs(N, DIMS, 3, again);
    assert_memory_equal(u, again, sizeof u);
    dls_sweep_lhs(N, DIMS, 4, again);
    assert_memory_not_equal(u, again, sizeof u);
    /* A dimension more leaves the others as they are. */
    double one[N];
    dls_sweep_lhs(N, 1, 3, one);
    for (size_t i = 0; i < N; i++) {
        assert_true(!(one[i] < u[i * DIMS]) && !(one[i] > u[i * DIMS]));
    }
}

/* The first elements of the sequence in two dimensions are known: Bratley and Fox, "Algorithm 659",
 * ACM TOMS 14 (1988). */
TEST(sobol)
{
    static const double want[] = {0.5, 0.5, 0.75, 0.25, 0.25, 0.75, 0.375, 0.375, 0.875, 0.875};
    double u[10];
    assert_int_equal(dls_sweep_sobol(5, 2, u, NULL), DLS_OK);
    for (size_t i = 0; i < 10; i++) {
        assert_true(fabs(u[i] - want[i]) < 1e-15);
    }
}

static const char *text_at(const char *key, const char *from, const char *to, bool log, bool whole,
                           bool sampled, double u)
{
    static char buf[64];
    dls_sweep_span span;
    assert_int_equal(dls_sweep_span_init(&span, key, from, to, log, whole, NULL), DLS_OK);
    span.sampled = sampled;
    return dls_sweep_span_text(&span, u, buf, sizeof buf);
}

TEST(spans)
{
    const char *time = "scheduler.restore_cost", *whole = "cluster.nodes[3].count";
    assert_string_equal(text_at(time, "0 s", "1 h", false, false, false, 0), "0 s");
    assert_string_equal(text_at(time, "0 s", "120 s", false, false, false, 0.25), "30 s");
    assert_string_equal(text_at(time, "1 s", "10000 s", true, false, false, 0.75), "1000 s");
    assert_string_equal(
        text_at("cluster.rack_uplink", "10 Gb/s", "40 Gb/s", false, false, false, 1), "40 Gb/s");
    assert_string_equal(text_at("run.audit_no_such", "0.1", "0.7", false, false, false, 0.5),
                        "0.4");
    assert_string_equal(text_at(whole, "1", "8", false, false, false, 0.5), "5"); /* 4.5 */
    assert_string_equal(text_at(whole, "8", "1", false, false, false, 1), "1");
    assert_string_equal(text_at("scheduler.option", "1", "9", false, true, false, 0.3), "3");
    /* An option of a policy is what its first end is written as; ends of different kinds are refused. */
    assert_string_equal(text_at("scheduler.slice", "1 min", "5 min", false, false, false, 0.5),
                        "180 s");
    assert_string_equal(text_at("placement.rate", "8 Gb/s", "24 Gb/s", false, false, false, 0.5),
                        "16 Gb/s");
    assert_string_equal(text_at("scheduler.share", "1 GiB", "4 GiB", true, false, false, 0.5),
                        "2 GiB");
    /* A sampled integer takes each value, the ends too, equally often. */
    for (int i = 0; i < 80; i++) {
        char want[16];
        snprintf(want, sizeof want, "%d", 1 + i / 10);
        assert_string_equal(text_at(whole, "1", "8", false, false, true, (i + 0.5) / 80), want);
    }
    dls_sweep_span span;
    dls_error err;
    assert_int_equal(dls_sweep_span_init(&span, time, "0 s", "never", false, false, &err),
                     DLS_ECONFIG);
    assert_int_equal(dls_sweep_span_init(&span, time, "1 s", "1 s", false, false, &err),
                     DLS_ECONFIG);
    assert_int_equal(dls_sweep_span_init(&span, time, "1 s", "5 GB", false, false, &err),
                     DLS_ECONFIG);
    assert_int_equal(dls_sweep_span_init(&span, "scheduler.slice", "1 s", "5 GB", false, false, &err),
                     DLS_ECONFIG);
    assert_int_equal(dls_sweep_span_init(&span, "run.seed", "x", "5", false, false, &err),
                     DLS_ECONFIG);
}

/* ---- points ---------------------------------------------------------------------------------- */

static const char cluster_text[] =
    "schema_version = 1;\n"
    "cluster: { nodes = ({ count = 2; gpus = 4; gpu_type = \"V100\"; }); };\n"
    "trace: { path = \"jobs.csv\"; };\n";

static const char sweep_text[] =
    "sweep: { base = \"base.cfg\"; axes = (\n"
    "{ keys = [\"scheduler.name\", \"scheduler.queue_limits\"];\n"
    "  values = ((\"dlas-gpu\", [100, 200]), (\"fifo\", \"*\")); },\n"
    "{ sample = \"sobol\"; points = 3; over = (\n"
    "    { key = \"scheduler.restore_cost\"; from = \"0 s\"; to = \"60 s\"; },\n"
    "    { key = \"placement.name\"; values = [\"count\", \"spread\"]; }); });\n"
    "seeds = [5, 6]; };\n";

static const char jobs_text[] = "job_id,num_gpu,submit_time,duration\na,1,0,10\nb,2,5,20\n";

static const dls_study_watch watch = {0};

/* The plan of sweep.cfg; NULL and the problems if it has any. */
static dls_sweep_plan *plan_of(const dls_registry *registry, dls_sweep **sweep,
                               const dls_override *overrides, size_t n, dls_status *status)
{
    char path[256];
    dls_problems problems = {0};
    dls_error err;
    dls_sweep_plan *plan = NULL;
    snprintf(path, sizeof path, "%s/sweep.cfg", folder);
    *sweep = NULL;
    *status = dls_sweep_load(path, &problems, sweep, &err);
    if (*status == DLS_OK) {
        const dls_sweep_request request = {.sweep = *sweep,
                                           .overrides = overrides,
                                           .n_overrides = n,
                                           .registry = registry,
                                           .watch = &watch};
        *status = dls_sweep_plan_make(&request, &problems, &plan, &err);
    }
    dls_problems_fini(&problems);
    return plan;
}

TEST_BETWEEN(points, make_folder, drop_folder)
{
    DLS_HOLD(dls_registry_destroy) dls_registry *registry = NULL;
    DLS_HOLD(dls_sweep_destroy) dls_sweep *sweep = NULL;
    dls_status status;
    put("base.cfg", cluster_text);
    put("jobs.csv", jobs_text);
    put("sweep.cfg", sweep_text);
    assert_int_equal(dls_registry_create(&registry, NULL), DLS_OK);
    DLS_HOLD(dls_sweep_plan_destroy) dls_sweep_plan *plan = plan_of(registry, &sweep, NULL, 0, &status);
    assert_int_equal(status, DLS_OK);
    assert_int_equal(plan->n_points, 12);
    assert_int_equal(plan->n_designs, 6);
    assert_int_equal(dls_sweep_n_keys(sweep), 4);
    static const char *const want[6][4] = {{"dlas-gpu", "100,200", "30 s", "spread"},
                                           {"dlas-gpu", "100,200", "45 s", "count"},
                                           {"dlas-gpu", "100,200", "15 s", "spread"},
                                           {"fifo", "*", "30 s", "spread"},
                                           {"fifo", "*", "45 s", "count"},
                                           {"fifo", "*", "15 s", "spread"}};
    char label[200];
    for (size_t d = 0; d < 6; d++) {
        for (size_t k = 0; k < 4; k++) {
            assert_string_equal(dls_sweep_value(sweep, d, k), want[d][k]);
        }
    }
    assert_string_equal(dls_sweep_label(plan, 1, label, sizeof label),
                        "dlas-gpu/count, queue_limits=100,200, restore_cost=45 s");
    assert_string_equal(dls_sweep_label(plan, 5, label, sizeof label),
                        "fifo/spread, restore_cost=15 s");
    /* Point 9: design 4 with the second seed. */
    DLS_HOLD(dls_config_destroy) dls_config *config = NULL;
    dls_problems problems = {0};
    assert_int_equal(dls_sweep_config(plan, 9, &problems, &config, NULL), DLS_OK);
    assert_string_equal(config->scheduler, "fifo");
    assert_string_equal(config->placement, "count");
    assert_int_equal(config->sim.restore_us, 45000000);
    assert_int_equal(config->sim.seed, 6);
}

/* The ids of all points, one behind the other. */
static char *ids(const dls_registry *registry, const dls_override *overrides, size_t n)
{
    dls_sweep *sweep;
    dls_status status;
    dls_sweep_plan *plan = plan_of(registry, &sweep, overrides, n, &status);
    assert_int_equal(status, DLS_OK);
    char *all = calloc(plan->n + 1, DLS_SWEEP_ID);
    for (size_t i = 0; i < plan->n; i++) {
        strcat(all, plan->id[i]);
    }
    dls_sweep_plan_destroy(plan);
    dls_sweep_destroy(sweep);
    return all;
}

/* Axes whose keys end alike are told apart. */
TEST_BETWEEN(labels, make_folder, drop_folder)
{
    DLS_HOLD(dls_registry_destroy) dls_registry *registry = NULL;
    DLS_HOLD(dls_sweep_destroy) dls_sweep *sweep = NULL;
    dls_status status;
    put("base.cfg", "schema_version = 1;\n"
                    "cluster: { nodes = ({ count = 2; gpus = 4; gpu_type = \"V100\"; },\n"
                    "                    { count = 2; gpus = 4; gpu_type = \"P100\"; }); };\n"
                    "trace: { path = \"jobs.csv\"; };\n");
    put("jobs.csv", jobs_text);
    put("sweep.cfg", "sweep: { base = \"base.cfg\"; axes = (\n"
                     "{ keys = [\"cluster.nodes[0].count\", \"cluster.nodes[1].count\"]; values = ((1, \"*\"), (\"*\", 1)); },\n"
                     "{ key = \"cluster.nodes[0].gpus\"; values = [4]; }); };\n");
    assert_int_equal(dls_registry_create(&registry, NULL), DLS_OK);
    DLS_HOLD(dls_sweep_plan_destroy) dls_sweep_plan *plan = plan_of(registry, &sweep, NULL, 0, &status);
    assert_int_equal(status, DLS_OK);
    char label[200];
    assert_string_equal(dls_sweep_label(plan, 0, label, sizeof label), "nodes[0].count=1, gpus=4");
    assert_string_equal(dls_sweep_label(plan, 1, label, sizeof label), "nodes[1].count=1, gpus=4");
}

TEST_BETWEEN(identities, make_folder, drop_folder)
{
    DLS_HOLD(dls_registry_destroy) dls_registry *registry = NULL;
    assert_int_equal(dls_registry_create(&registry, NULL), DLS_OK);
    put("base.cfg", cluster_text);
    put("jobs.csv", jobs_text);
    put("sweep.cfg", sweep_text);
    char *first = ids(registry, NULL, 0);
    /* Another name of the same trace, a comment more: the same points. */
    char path[256];
    snprintf(path, sizeof path, "%s/same.csv", folder);
    put("same.csv", jobs_text);
    const dls_override same = {"trace.path", path, "--trace"};
    char *other = ids(registry, &same, 1);
    assert_string_equal(first, other);
    free(other);
    char text[1000];
    snprintf(text, sizeof text, "# a comment\n%s", cluster_text);
    put("base.cfg", text);
    other = ids(registry, NULL, 0);
    assert_string_equal(first, other);
    free(other);
    /* Another value, another trace: other points, every one. */
    const dls_override until = {"run.until", "30 d", "--until"};
    other = ids(registry, &until, 1);
    for (size_t i = 0; i < 12; i++) {
        assert_memory_not_equal(first + i * 32, other + i * 32, 32);
    }
    free(other);
    put("jobs.csv", "job_id,num_gpu,submit_time,duration\na,1,0,11\nb,2,5,20\n");
    other = ids(registry, NULL, 0);
    for (size_t i = 0; i < 12; i++) {
        assert_memory_not_equal(first + i * 32, other + i * 32, 32);
    }
    free(other);
    free(first);
}

TEST_BETWEEN(failed_allocations, make_folder, drop_folder)
{
    dls_registry *registry;
    assert_int_equal(dls_registry_create(&registry, NULL), DLS_OK);
    put("base.cfg", cluster_text);
    put("jobs.csv", jobs_text);
    put("sweep.cfg", sweep_text);
    /* Every one at first, then ever fewer: a plan allocates thousands of times. */
    for (int n = 0, step = 1;; n += step) {
        dls_sweep *sweep;
        dls_sweep_plan *plan;
        dls_status status;
        REFUSED(plan, n, plan_of(registry, &sweep, NULL, 0, &status));
        assert_true(status == DLS_OK || status == DLS_ENOMEM);
        assert_int_equal(status == DLS_OK, plan != NULL);
        dls_sweep_plan_destroy(plan);
        dls_sweep_destroy(sweep);
        step = 1 + n / 20;
        if (status == DLS_OK) {
            assert_true(n > 500);
            break;
        }
    }
    dls_registry_destroy(registry);
}

/* ---- designs compared ------------------------------------------------------------------------ */

static dls_summary summary_of(double jct)
{
    dls_summary s;
    memset(&s, 0, sizeof s);
    s.part[0].jobs = s.part[0].completed = 3;
    s.part[0].jct.mean_s = s.part[0].jct.median_s = jct;
    s.makespan_s = 100;
    s.complete = true;
    return s;
}

/* *text: what is written, owned (free). */
static dls_status compared(const dls_compare_run *runs, size_t n, const char *baseline,
                           bool json, char **text)
{
    size_t len;
    FILE *out = open_memstream(text, &len);
    const dls_compare_options options = {&baseline, baseline ? 1 : 0};
    const dls_status status = json ? dls_compare_designs_json(out, runs, n, &options, NULL)
                                   : dls_compare_designs_print(out, runs, n, &options, NULL);
    fclose(out);
    return status;
}

/* Whether the text has these words, blanks apart. */
static void assert_words(const char *text, const char *words)
{
    char *plain = malloc(strlen(text) + 1);
    size_t n = 0;
    for (; *text; text++) {
        if (*text != ' ' || (n > 0 && plain[n - 1] != ' ')) {
            plain[n++] = *text == '\n' ? ' ' : *text;
        }
    }
    plain[n] = '\0';
    if (!strstr(plain, words)) {
        fail_msg("no \"%s\" in: %s", words, plain);
    }
    free(plain);
}

/* What divides policies and keys may be in a value, too. */
TEST(parts_of_labels)
{
    static const char *const label[] = {"fifo/random, path=a/b.csv, limits=1, 2", "fifo/random, path=c.csv, limits=1, 2"};
    static const char *const parts[] = {"fifo", "random", "path=a/b.csv", "limits=1, 2"};
    dls_summary summary[2] = {summary_of(10), summary_of(5)};
    dls_compare_run runs[2];
    char *text;
    for (size_t i = 0; i < 2; i++) {
        runs[i] = (dls_compare_run){label[i], "", &summary[i], i, 0};
    }
    for (size_t i = 0; i < 4; i++) {
        assert_true(dls_compare_label_has(label[0], parts[i]));
    }
    assert_false(dls_compare_label_has(label[0], "b.csv"));
    assert_int_equal(compared(runs, 2, "path=a/b.csv", false, &text), DLS_OK);
    assert_words(text, "/ path=a/b.csv 0.500x");
    free(text);
}

TEST(designs)
{
    /* Two designs with three seeds, in any order: 10 12 14 and 20 18 28 s; one with a seed alone.
     */
    const double jct[] = {20, 10, 14, 18, 12, 28, 7};
    static const size_t design[] = {1, 0, 0, 1, 0, 1, 2};
    static const int64_t replica[] = {0, 0, 2, 1, 1, 2, 1};
    static const char *const label[] = {"srtf/random", "srtf/pack", "fifo/random"};
    dls_summary summary[7];
    dls_compare_run runs[7];
    for (size_t i = 0; i < 7; i++) {
        summary[i] = summary_of(jct[i]);
        runs[i] = (dls_compare_run){label[design[i]], "", &summary[i], design[i], replica[i]};
    }
    char *text;
    assert_int_equal(compared(runs, 7, "srtf/random", false, &text), DLS_OK);
    /* Mean 12, standard deviation 2: half width 4.30265 * 2 / sqrt(3) = 4.9683, 41.40 % of 12. */
    assert_words(text, "srtf/random 3 12.0 s");
    assert_words(text, "+- 41.40 %");
    /* Ratios 2, 1.5, 2: mean 1.83333, half width 4.30265 * 0.288675 / sqrt(3) = 0.71711. */
    assert_words(text, "/ srtf/random 1.833x");
    assert_words(text, "+- 0.717");
    /* The single run is compared with the same seed's: 7 / 12, of one pair of three. */
    assert_words(text, "/ srtf/random * 0.583x");
    free(text);
    /* A part of a label: each design beside the one that shares the rest of its own. */
    assert_int_equal(compared(runs, 7, "random", true, &text), DLS_OK);
    assert_words(text, "\"label\": \"srtf/pack\"");
    const char *pack = strstr(text, "\"label\": \"srtf/pack\"");
    assert_words(pack, "\"baseline\": \"random\", \"label\": \"srtf/random\"");
    const char *fifo = strstr(text, "\"label\": \"fifo/random\"");
    assert_words(fifo, "\"baseline\": \"random\", \"label\": \"fifo/random\"");
    free(text);
    /* There is no fifo/pack, so fifo/random has nothing to stand beside. */
    assert_int_equal(compared(runs, 7, "pack", true, &text), DLS_OK);
    assert_words(strstr(text, "\"label\": \"fifo/random\""), "\"ratios\": [ ]");
    free(text);
    assert_int_equal(compared(runs, 7, "rando", false, &text), DLS_EUSAGE);
    free(text);
    EACH_REFUSED_THEN(1, compared(runs, 7, NULL, false, &text), free(text));
    free(text);
}
