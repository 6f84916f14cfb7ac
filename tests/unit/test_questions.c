/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the library answers through its public headers: questions to a set-up, the summary of a live
 * simulation, studies and comparisons.
 */
#include "dlsim/site.h"
#include "dlsim/study.h"
#include "run_util.h"
#include "support/must.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- questions to a set-up ------------------------------------------------------------------- */

TEST(values)
{
    static const char *const expected[][2] = {
        {"scheduler.name", "dlas-gpu"},
        {"scheduler.queue_limits", "100,200.5"},
        {"scheduler.restore_cost", "62 s"},
        {"cluster.nodes[0].count", "4"},
        {"cluster.nodes[0].gpu_type", "V100"},
        {"run.seed", "3000000000"},
        {"run.audit", "true"},
        {"results.path", ""},
    };
    const char *value;
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, "dlas-gpu");
    must(dls_setup_set(setup, "scheduler.queue_limits", "100,200.5", &err));
    must(dls_setup_set_from(setup, NULL, "run.seed=3000000000", "--set", &err));
    must(dls_setup_set(setup, "run.audit", "true", &err));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        must(dls_setup_get(setup, expected[i][0], &value, &err));
        assert_string_equal(value, expected[i][1]);
    }
    static const char *const none[] = {"scheduler.nam", "scheduler",       "cluster.nodes[1].count",
                                       "cluster.nodes", "scheduler.slice", ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(dls_setup_get(setup, none[i], &value, &err), DLS_EUSAGE);
    }
    MUST_FAIL(DLS_EUSAGE, "scheduler.name", dls_setup_get(setup, "scheduler.nam", &value, &e));
    /* What is said later counts, and is asked for anew. */
    must(dls_setup_set(setup, "run.seed", "7", &err));
    must(dls_setup_get(setup, "run.seed", &value, &err));
    assert_string_equal(value, "7");
    must(dls_setup_set_from(setup, "scheduler.name", "strf", "--scheduler", &err));
    assert_int_equal(dls_setup_get(setup, "run.seed", &value, &err), DLS_ECONFIG);
    assert_non_null(strstr(dls_setup_problem(setup, 0), "--scheduler: unknown"));
}

TEST(texts)
{
    const char *text, *value;
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, "srtf");
    must(dls_setup_text_of(setup, DLS_TEXT_RESOLVED, NULL, &text, &err));
    DLS_HOLD(dls_setup_destroy) dls_setup *again = setup_of(text, NULL);
    must(dls_setup_get(again, "scheduler.name", &value, &err));
    assert_string_equal(value, "srtf");
    must(dls_setup_text_of(setup, DLS_TEXT_DEFAULTS, NULL, &text, &err));
    must(dls_setup_text(again, text, &err));
    must(dls_setup_check(again, &err));
    must(dls_setup_text_of(setup, DLS_TEXT_MARKDOWN, NULL, &text, &err));
    assert_non_null(strstr(text, "\n## Schedulers\n"));
    must(dls_setup_text_of(setup, DLS_TEXT_JSON, NULL, &text, &err));
    assert_int_equal(*text, '[');
    must(dls_setup_text_of(setup, DLS_TEXT_KEY, "run.seed", &text, &err));
    assert_non_null(strstr(text, "default:"));
    assert_int_equal(dls_setup_text_of(setup, DLS_TEXT_KEY, "run.sed", &text, &err), DLS_EUSAGE);
}

TEST(too_many_problems)
{
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, NULL);
    for (int i = 0; i < 103; i++) {
        must(dls_setup_set(setup, "no.such", "1", &err));
    }
    assert_int_equal(dls_setup_check(setup, &err), DLS_ECONFIG);
    assert_string_equal(dls_setup_problem(setup, 100), "... and 3 more");
    assert_null(dls_setup_problem(setup, 101));
}

TEST(names)
{
    const char *name, *summary;
    bool driple = false, philly = false, seed = false;
    for (size_t i = 0; (name = dls_known_name(DLS_KNOWN_PREDICTORS, i, &summary)); i++) {
        driple = driple || (strcmp(name, "driple") == 0 && *summary);
    }
    for (size_t i = 0; (name = dls_known_name(DLS_KNOWN_FORMATS, i, NULL)); i++) {
        philly = philly || strcmp(name, "philly-csv") == 0;
    }
    for (size_t i = 0; (name = dls_known_name(DLS_KNOWN_KEYS, i, &summary)); i++) {
        seed = seed || (strcmp(name, "run.seed") == 0 && *summary);
        assert_null(strstr(name, "[]"));
    }
    assert_true(driple && philly && seed);
    const dls_known_list lists[] = {DLS_KNOWN_PREDICTORS, DLS_KNOWN_FORMATS, DLS_KNOWN_KEYS};
    for (size_t k = 0; k < 3; k++) {
        assert_null(dls_known_name(lists[k], 100000, &summary));
        assert_null(dls_known_name(lists[k], SIZE_MAX, NULL));
    }
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, NULL);
    assert_ptr_equal(dls_setup_scheds(setup)[0], dls_scheds()[0]);
    assert_ptr_equal(dls_setup_placements(setup)[0], dls_placements()[0]);
    assert_string_equal(dls_setup_origin(setup, dls_scheds()[0]), "");
}

/* A load that no option of dlsim whatif takes: less than nothing, none at all, more than fits. */
TEST(load_out_of_range)
{
    DLS_HOLD(dls_setup_destroy) dls_setup *before = setup_of(TIGHT, NULL), *after = setup_of(TIGHT, NULL);
    for (const double *load = (const double[]){-1, 0.001, 101, (double)INFINITY, (double)NAN, 0}; *load != 0; load++) {
        dls_whatif found;
        MUST_FAIL(DLS_EUSAGE, "--load is", dls_whatif_of(before, after, &(dls_whatif_asked){.load = *load}, &found, &e));
        dls_whatif_fini(&found);
    }
}

/* ---- the summary of a live simulation -------------------------------------------------------- */

TEST(so_far)
{
    const char *text;
    double n, jct_s, end_s;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(7, 200);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, "srtf");
    const uint64_t whole = digest_of_run(setup, trace);
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
    DLS_HOLD(dls_simulation_destroy) dls_simulation *stopped = simulation_of(setup, trace);
    assert_string_equal(dls_simulation_scheduler(sim), "srtf");
    assert_string_equal(dls_simulation_placement(sim), "first-fit");
    assert_int_equal(dls_simulation_report(sim, false, &text, &err), DLS_EUSAGE);
    must(dls_simulation_run_until(sim, INT64_C(2000000000), &err));
    must(dls_simulation_run_until(stopped, INT64_C(2000000000), &err));
    must(dls_simulation_finish(stopped, &err));
    must(dls_simulation_sum_up(sim, &err));
    assert_true(dls_simulation_number(sim, "completed", &n));
    assert_int_equal((size_t)n, dls_simulation_counts(sim).finished);
    assert_true(n > 0 && n < 200);
    /* The numbers are those of one that is finished there; but for the time that it took. */
    assert_int_equal(dls_simulation_n_numbers(sim), dls_simulation_n_numbers(stopped));
    dls_result_number a, b;
    for (size_t i = 0; dls_simulation_number_at(sim, i, &a); i++) {
        assert_true(dls_simulation_number_at(stopped, i, &b));
        const bool time = strcmp(a.name, "wall_s") == 0 || strcmp(a.name, "events_per_s") == 0;
        if (!time && !(isnan(a.value) && isnan(b.value)) && fabs(a.value - b.value) > 0) {
            fail_msg("%s: %g, %g", a.name, a.value, b.value);
        }
    }
    must(dls_simulation_report(sim, true, &text, &err));
    assert_non_null(strstr(text, "\"complete\": false"));
    must(dls_simulation_report(sim, false, &text, &err));
    assert_non_null(strstr(text, "job completion time"));
    /* It has not been touched. */
    assert_false(dls_simulation_is_finished(sim));
    assert_int_equal(dls_simulation_digest(sim), 0);
    assert_true(dls_simulation_number(sim, "jct_mean_s", &jct_s));
    must(dls_simulation_run(sim, &err));
    assert_true(dls_simulation_number(sim, "jct_mean_s", &end_s));
    assert_true(fabs(end_s - jct_s) > 0);
    assert_int_equal(dls_simulation_digest(sim), whole);
    must(dls_simulation_sum_up(sim, &err)); /* nothing more to do */
    assert_null(dls_simulation_warning(sim));
}

/* ---- studies --------------------------------------------------------------------------------- */

typedef struct told {
    size_t traces, progress;
} told;

static void tell_trace(void *user, const dls_trace *trace)
{
    told *t = user;
    assert_int_equal(dls_trace_cols(trace)->n, 40);
    t->traces++;
}

static void tell_progress(void *user, const dls_study_progress *now)
{
    told *t = user;
    assert_true(now->finished <= now->n);
    t->progress++;
}

static dls_status fail_fifo(void *user, dls_simulation *sim, dls_error *e)
{
    return strcmp(dls_simulation_scheduler(sim), "fifo") == 0
               ? dls_fail(e, DLS_EPOLICY, NULL, "not this one")
               : dls_simulation_run(sim, e);
}

static dls_status finish_and_die(void *user, dls_simulation *sim, dls_error *e)
{
    if (rename("aside.h5", user) == 0) {
        raise(SIGKILL);
    }
    return dls_fail(e, DLS_ERUN, user, "no result to put back");
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(studies)
{
    static const char *const scheds[] = {"fifo", "srtf", "dlas-gpu"};
    char failure[DLS_STUDY_FAILURE];
    told t = {0};
    size_t n;
    dls_study *study;
    dls_study_progress done;
    dls_comparison *c;
    put_file("base.cfg", TIGHT);
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(5, 40);
    must(dls_trace_save_csv(trace, "jobs.csv", &err));
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = NULL;
    must(dls_setup_create(&setup, &err));
    must(dls_setup_set(setup, "trace.path", "jobs.csv", &err));
    must(dls_study_create(setup, "base.cfg", &study, &err));
    MUST_FAIL(DLS_EUSAGE, "no values", dls_study_vary(study, "scheduler.name", scheds, 0, "here", &e));
    must(dls_study_plan(study, "points", 0, 0, &err));
    must(dls_study_vary(study, "scheduler.name", scheds, 3, "here", &err));
    assert_int_equal(dls_study_run(study, 1, &done, &err), DLS_EUSAGE); /* not planned, or for other points */
    MUST_FAIL(DLS_EUSAGE, "not been planned", dls_study_find(study, "srtf", &e));
    const dls_study_watch watch = {
        .trace = tell_trace, .run = fail_fifo, .progress = tell_progress, .user = &t};
    dls_study_set_watch(study, &watch);
    must(dls_study_plan(study, "points", 0, 0, &err));
    MUST_FAIL(DLS_EUSAGE, "-3 workers: expected at least one", dls_study_run(study, -3, &done, &e));
    const dls_study_facts about = dls_study_about(study);
    assert_string_equal(about.name, "base");
    assert_string_equal(about.folder, "points");
    assert_int_equal(about.n_points, 3);
    assert_int_equal(about.n, 3);
    assert_string_equal(dls_study_key(study, 0), "scheduler.name");
    assert_string_equal(dls_study_value(study, 2, 0), "dlas-gpu");
    must(dls_study_run(study, 2, &done, &err));
    assert_int_equal(done.finished, 2);
    assert_int_equal(done.failed, 1);
    assert_true(t.traces == 1 && t.progress > 0);
    assert_int_equal(dls_study_state_of(study, 0, failure), DLS_STUDY_FAILED);
    assert_string_equal(failure, "not this one");
    assert_int_equal(dls_study_state_of(study, 1, failure), DLS_STUDY_FINISHED);
    assert_string_equal(dls_study_point_at(study, 1).label, "srtf/first-fit");
    must(dls_study_merge(study, "all.h5", false, &n, &err));
    assert_int_equal(n, 2);
    /* What is missing runs; what is there stays. */
    dls_study_set_watch(study, &(dls_study_watch){0});
    must(dls_study_run(study, 2, &done, &err));
    assert_true(done.finished == 3 && done.skipped == 2);
    /* A worker that is killed when its point is there has lost nothing. */
    char path[64];
    const char *id = dls_study_point_at(study, 1).id;
    snprintf(path, sizeof path, "points/points/%.2s/%.32s.h5", id, id);
    assert_int_equal(rename(path, "aside.h5"), 0);
    dls_study_set_watch(study, &(dls_study_watch){.run = finish_and_die, .user = path});
    must(dls_study_run(study, 2, &done, &err));
    assert_true(done.finished == 3 && done.skipped == 2 && done.failed == 0);
    assert_int_equal(dls_study_state_of(study, 1, failure), DLS_STUDY_FINISHED);
    must(dls_comparison_create(&c, &err));
    must(dls_comparison_add(c, "all.h5", NULL, &err));
    FILE *out = fopen("table", "w");
    must(dls_comparison_print(c, out, false, &err));
    assert_null(dls_comparison_warning(c, 0));
    must(dls_comparison_baseline(c, "dlas-gpu", &err));
    must(dls_comparison_print(c, out, true, &err));
    must(dls_comparison_baseline(c, "nobody", &err));
    MUST_FAIL(DLS_EUSAGE, "nobody", dls_comparison_print(c, out, true, &e));
    fclose(out);
    dls_comparison_destroy(c);
    dls_study_destroy(study);
    /* What is wrong is the set-up's to tell. */
    must(dls_setup_set(setup, "scheduler.name", "srtf", &err));
    must(dls_study_create(setup, "base.cfg", &study, &err));
    must(dls_study_vary(study, "scheduler.name", scheds, 3, "here", &err));
    assert_int_equal(dls_study_plan(study, NULL, 0, 0, &err), DLS_ECONFIG);
    assert_non_null(strstr(dls_setup_problem(setup, 0), "is an axis"));
    dls_study_destroy(study);
}

static int in_a_folder(void **state)
{
    static char folder[] = "/tmp/test_questions.XXXXXX";
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int away(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    return chdir("/") == 0 ? system(command) : -1;
}

GROUP(in_a_folder, away)
