/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Simulations through the public header alone: dlsim/run.h.
 */
#include "dlsim/results.h"
#include "dlsim/steps.h"
#include "dlsim/traces.h"
#include "run_util.h"
#include "support/scratch.h"

#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

GROUP(make_folder, drop_folder)

/* ---- until a time ---------------------------------------------------------------------------- */

TEST(in_pieces)
{
    static const char *const schedulers[] = {"fifo",    "srtf", "dlas-gpu",
                                             "gittins", "easy", "gandiva"};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(7, 300);
    for (size_t i = 0; i < sizeof schedulers / sizeof schedulers[0]; i++) {
        DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, schedulers[i]);
        must(dls_setup_set(setup, "run.audit", "true", &err));
        const uint64_t whole = digest_of_run(setup, trace);
        DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
        size_t submitted = 0;
        for (int64_t t = 777777; !dls_simulation_is_finished(sim); t += 997000001) {
            must(dls_simulation_run_until(sim, t, &err));
            const dls_counts c = dls_simulation_counts(sim);
            assert_true(dls_simulation_is_finished(sim) || dls_simulation_view(sim)->now_us == t);
            assert_int_equal(c.submitted, c.waiting + c.running + c.finished);
            const dls_view *view = dls_simulation_view(sim);
            size_t waiting = 0, running = 0;
            for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
                waiting++;
            }
            for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
                running += view->running[j];
            }
            assert_true(waiting == c.waiting && running == c.running);
            assert_true(c.submitted >= submitted);
            submitted = c.submitted;
        }
        assert_int_equal(submitted, 300);
        assert_int_equal(dls_simulation_digest(sim), whole);
    }
}

static bool stop_at_once(void *user, int64_t now_us, size_t done, size_t n)
{
    return ++*(int *)user != 1;
}

TEST(interrupted)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(3, 100);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, "srtf");
    const uint64_t whole = digest_of_run(setup, trace);
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
    int calls = 0;
    dls_simulation_watch(sim, stop_at_once, &calls);
    assert_int_equal(dls_simulation_run(sim, &err), DLS_EINTERRUPTED);
    assert_int_equal(calls, 1);
    assert_false(dls_simulation_is_finished(sim));
    must(dls_simulation_run(sim, &err)); /* it may go on */
    assert_int_equal(dls_simulation_digest(sim), whole);
    dls_simulation_destroy(sim);
    sim = simulation_of(setup, trace);
    must(dls_simulation_run_until(sim, INT64_C(500000000), &err));
    must(dls_simulation_finish(sim, &err)); /* or not */
    assert_false(dls_simulation_counts(sim).complete);
    assert_true(dls_simulation_digest(sim) != whole);
    /* Its view goes on telling what the columns tell. */
    const dls_view *view = dls_simulation_view(sim);
    dls_result_column executed;
    assert_true(dls_simulation_column(sim, DLS_TABLE_JOBS, "executed_us", &executed));
    assert_true(view->now_us == INT64_C(500000000) && view->running_jobs > 0);
    for (int32_t j = 0; j < view->n_jobs; j++) {
        assert_int_equal(dls_view_executed_us(view, j), ((const int64_t *)executed.data)[j]);
        assert_true(!view->running[j] || dls_view_remaining_us(view, j) >= view->duration_us[j] - ((const int64_t *)executed.data)[j]);
    }
}

/* ---- what is read ---------------------------------------------------------------------------- */

TEST(columns)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(5, 50);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, "fifo");
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
    dls_result_column end, again, c;
    double jct_s;
    assert_false(dls_simulation_number(sim, "jct_mean_s", &jct_s));
    assert_true(dls_simulation_column(sim, DLS_TABLE_JOBS, "end_us", &end));
    must(dls_simulation_run(sim, &err));
    assert_true(dls_simulation_column(sim, DLS_TABLE_JOBS, "end_us", &again));
    assert_ptr_equal(end.data, again.data); /* nothing is copied */
    assert_int_equal(end.n, 50);
    assert_int_equal(end.type, DLS_VALUE_I64);
    assert_string_equal(end.unit, "us");
    double sum = 0;
    for (size_t j = 0; j < 50; j++) {
        sum += (double)(((const int64_t *)end.data)[j] - dls_trace_cols(trace)->submit_us[j]) / 1e6;
    }
    assert_true(dls_simulation_number(sim, "jct_mean_s", &jct_s));
    assert_true(fabs(jct_s - sum / 50) < 1e-9 * sum);
    assert_false(dls_simulation_column(sim, DLS_TABLE_JOBS, "no such", &c));
    assert_false(dls_simulation_number(sim, "no such", &jct_s));
    for (int t = 0; t < DLS_TABLE_COUNT; t++) {
        const size_t n = dls_simulation_n_columns(sim, (dls_table)t);
        assert_true(n > 0 || t == DLS_TABLE_STARTS || t == DLS_TABLE_WORLD);
        for (size_t i = 0; i < n; i++) {
            assert_true(dls_simulation_column_at(sim, (dls_table)t, i, &c));
            assert_true(c.data || c.n == 0);
            assert_true(*c.name && *c.description);
            assert_true(dls_simulation_column(sim, (dls_table)t, c.name, &again));
            assert_ptr_equal(c.data, again.data);
        }
        assert_false(dls_simulation_column_at(sim, (dls_table)t, n, &c));
    }
    dls_result_number number;
    const size_t n = dls_simulation_n_numbers(sim);
    assert_true(n > 30);
    assert_false(dls_simulation_number_at(sim, n, &number));
    const dls_place_index *index = dls_simulation_index(sim);
    assert_int_equal(dls_place_nodes(index), 4);
    assert_int_equal(dls_place_free_gpus(index, 0), 32);
}

/* What some nodes are told to have and others not is accounted nowhere: said where a job asks for it. */
TEST(silent_nodes)
{
    static const char jobs[] = "num_gpu,submit_time,duration,num_cpu,mem_mib\n1,0,9,8,\n1,0,9,,512\n";
    static const struct {
        const char *first, *second, *says; /* cpus and memory of the two groups */
    } cases[] = {
        {"cpus = 8;", "", "no cpus of 'quiet'"},
        {"cpus = 8; memory = \"1 GiB\";", "cpus = 4;", "no memory of 'quiet'"},
        {"", "", NULL},
        {"cpus = 8; memory = \"1 GiB\";", "cpus = 4; memory = \"1 GiB\";", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "schema_version = 1; cluster: { nodes = ({ count = 1; gpus = 4; gpu_type = \"V100\"; %s },"
                 "{ name = \"quiet\"; count = 1; gpus = 4; gpu_type = \"V100\"; %s }); };",
                 cases[i].first, cases[i].second);
        DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(text, "fifo");
        DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
        must(dls_setup_trace_of_text(setup, "jobs", jobs, sizeof jobs - 1, &trace, &err));
        DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace), *copy = NULL;
        must(dls_simulation_clone(sim, &copy, &err));
        must(dls_simulation_run(copy, &err));
        const char *said[] = {dls_simulation_warning(sim), dls_simulation_warning(copy)};
        for (int k = 0; k < 2; k++) {
            assert_true(cases[i].says ? said[k] && strstr(said[k], cases[i].says) : !said[k]);
        }
    }
}

/* Who shares GPUs is of one virtual cluster: its quota pays for them. */
TEST(muri_keeps_virtual_clusters_apart)
{
    static const char *const models[] = {"resnet50", "alexnet", "bert-base", "vgg16", "inception3"};
    char jobs[4096];
    int n = snprintf(jobs, sizeof jobs, "num_gpu,submit_time,duration,vc,model_name\n");
    for (int i = 0; i < 40; i++) {
        n += snprintf(jobs + n, sizeof jobs - (size_t)n, "%d,%d,%d,%s,%s\n", i % 2 ? 8 : 4, 10 * i, 600 + 137 * i % 1700,
                      i % 3 ? "b" : "a", models[3 * i % 5]);
    }
    for (int k = 0; k < 2; k++) {
        DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(
            "schema_version = 1; cluster: { nodes = ({ count = 4; gpus = 4; gpu_type = \"V100-32GB\"; nic = \"10 Gb/s\"; });"
            "virtual_clusters = ({ name = \"a\"; gpus = 8; }, { name = \"b\"; gpus = 8; }); };"
            "perf: { model = \"operator\"; contention = false; }; predictor: { source = \"noisy\"; };"
            "run: { audit = true; };",
            k ? "muri-l" : "muri-s");
        DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
        must(dls_setup_trace_of_text(setup, "jobs", jobs, (size_t)n, &trace, &err));
        digest_of_run(setup, trace);
    }
}

TEST(problems)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(1, 3);
    dls_simulation *sim;
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT "scheduler: { nam = \"srtf\"; };", "strf");
    assert_int_equal(dls_simulation_create(setup, trace, &sim, &err), DLS_ECONFIG);
    assert_non_null(dls_setup_problem(setup, 0));
    assert_non_null(strstr(dls_setup_problem(setup, 0), "nam"));
    assert_non_null(strstr(dls_setup_problem(setup, 1), "scheduler.name"));
    assert_null(dls_setup_problem(setup, 2));
    assert_int_equal(dls_setup_check(setup, &err), DLS_ECONFIG);
    must(dls_setup_text(setup, TIGHT, &err));
    must(dls_setup_set(setup, "scheduler.name", "srtf", &err));
    must(dls_setup_check(setup, &err));
    assert_null(dls_setup_problem(setup, 0));
    dls_trace *none;
    assert_int_equal(dls_setup_trace(setup, &none, &err), DLS_ECONFIG);
    static const char *const wrong[] = {"num_gpu,submit_time\n1,soon\n", "num_gpu,submit_time\n1,0\0\n"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dls_setup_trace_of_text(setup, "mine", wrong[i], i ? 25 : 27, &none, &err), DLS_EINPUT);
        assert_string_equal(err.where, i ? "mine:2:4" : "mine:2:3");
    }
    must(dls_setup_set(setup, "trace.zero_duration", "keep", &err));
    must(dls_setup_set(setup, "trace.format", "swf", &err));
    static const char zero[] = "num_gpu,submit_time,duration\n1,0,0\n";
    must(dls_setup_trace_of_text(setup, "mine", zero, sizeof zero - 1, &none, &err));
    assert_int_equal(dls_trace_cols(none)->duration_us[0], 0);
    assert_string_equal(dls_trace_about(none)->path, "mine");
    dls_trace_destroy(none);
    must(dls_setup_set(setup, "run.compat", "tiresias", &err));
    assert_int_equal(dls_setup_check(setup, &err), DLS_ECONFIG);
    dls_setup_destroy(setup);
    assert_int_equal(dls_setup_create(&setup, &err), DLS_OK);
    assert_int_equal(dls_setup_check(setup, &err), DLS_ECONFIG); /* no cluster */
}

/* Parts that were made before the one that cannot be are released once. */
TEST(part_missing)
{
    dls_simulation *sim;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_with(1, 3, 40, 500, true);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT "perf: { model = \"operator\"; };", "srtf");
    must(dls_setup_set(setup, "predictor.source", "driple", &err));
    must(dls_setup_set(setup, "predictor.weights", "no-such-file.h5", &err));
    assert_int_equal(dls_simulation_create(setup, trace, &sim, &err), DLS_EINPUT);
}

/* A policy of the program's own. */
static void last_first(void *state, const dls_view *view, int32_t job, dls_job_event why,
                       dls_priority *out)
{
    out->key = -view->submit_us[job];
}

TEST(own_policy)
{
    static const dls_sched_ops lifo = {.abi = DLS_POLICY_ABI,
                                       .name = "lifo",
                                       .summary = "last come, first served",
                                       .discipline = DLS_STRICT,
                                       .priority = last_first};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(9, 100);
    dls_setup *mine = setup_of(TIGHT, NULL), *theirs = setup_of(TIGHT, "fifo");
    must(dls_setup_sched(mine, &lifo, &err));
    assert_true(digest_of_run(mine, trace) != digest_of_run(theirs, trace));
    assert_int_equal(dls_setup_sched(mine, &lifo, &err), DLS_EINPUT); /* the name is taken */
    dls_setup_destroy(mine);
    dls_setup_destroy(theirs);
}

static bool only_small(void *state, const dls_view *view, int32_t job)
{
    return view->gpus[job] < 8;
}

static void gives_up(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state, (void)why, (void)out;
    if (job >= 7) {
        dls_policy_fail(dls_view_index(view), "has no %s", "opinion");
    }
}

TEST(own_words)
{
    static const dls_sched_ops lost = {.abi = DLS_POLICY_ABI,
                                       .name = "lost",
                                       .summary = "gives up",
                                       .discipline = DLS_STRICT,
                                       .priority = gives_up};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(9, 100);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, NULL);
    must(dls_setup_sched(setup, &lost, &err));
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
    assert_int_equal(dls_simulation_run(sim, &err), DLS_EPOLICY);
    assert_string_equal(err.where, "lost");
    assert_string_equal(err.msg, "has no opinion, when asked about job 7 (at 112.000000 s)");
}

/* What is read from a file is what the simulation had, in every column, name and number. */
TEST(saved)
{
    char path[] = "/tmp/dlsim_saved_XXXXXX";
    close(mkstemp(path));
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(3, 200);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, "srtf");
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
    must(dls_simulation_run(sim, &err));
    must(dls_simulation_write(sim, path, NULL, &err));
    dls_saved *file;
    must(dls_saved_open(path, NULL, &file, &err));
    assert_string_equal(dls_saved_text(file, "scheduler"), "srtf");
    assert_string_equal(dls_saved_text(file, "nothing"), "");
    assert_null(dls_saved_run(file, 1));
    size_t columns = 0;
    for (int t = 0; t < DLS_TABLE_COUNT; t++) {
        dls_result_column of_file, of_sim;
        for (size_t i = 0; dls_saved_column_at(file, (dls_table)t, i, &of_file); i++, columns++) {
            static const size_t width[] = {8, 8, 4, 4, 4, 8, 1};
            assert_true(dls_simulation_column(sim, (dls_table)t, of_file.name, &of_sim));
            assert_int_equal(of_file.type, of_sim.type);
            assert_int_equal(of_file.n, of_sim.n);
            assert_string_equal(of_file.unit, of_sim.unit);
            assert_memory_equal(of_file.data, of_sim.data, of_sim.n * width[of_sim.type]);
        }
        assert_false(dls_saved_column_at(file, (dls_table)t, 99, &of_file));
    }
    assert_true(columns > 25);
    assert_string_equal(dls_saved_id(file, 5), dls_trace_id(trace, 5));
    assert_string_equal(dls_saved_name(file, "state", 3), "finished");
    assert_string_equal(dls_simulation_name(sim, "state", 3), "finished");
    assert_null(dls_simulation_name(sim, "state", 99));
    assert_null(dls_simulation_name(sim, "gpus", 0));
    assert_null(dls_simulation_name(sim, "model", (uint32_t)dls_trace_n_models(trace)));
    assert_null(dls_saved_name(file, "model", (uint32_t)dls_trace_n_models(trace)));
    dls_result_number of_file, of_sim;
    size_t n = 0;
    while (dls_saved_number_at(file, n, &of_file)) {
        assert_true(dls_simulation_number_at(sim, n++, &of_sim));
        assert_string_equal(of_file.name, of_sim.name);
        assert_true(of_file.value == of_sim.value || (isnan(of_file.value) && isnan(of_sim.value)));
    }
    assert_int_equal(n, dls_simulation_n_numbers(sim));
    must(dls_saved_turn(file, dls_saved_run(file, 0), &err));
    assert_string_equal(dls_saved_text(file, "scheduler"), "srtf");
    assert_int_equal(dls_saved_rows(file, DLS_TABLE_JOBS), 200);
    assert_null(dls_saved_run(file, 1));
    dls_saved *other;
    must(dls_saved_open(path, NULL, &other, &err));
    assert_int_equal(dls_saved_turn(other, "nothing", &err), DLS_EINPUT);
    dls_saved_close(other);
    assert_int_equal(truncate(path, 5000), 0);
    dls_saved *damaged;
    assert_int_equal(dls_saved_open(path, NULL, &damaged, &err), DLS_EINPUT);
    assert_string_equal(dls_saved_id(file, 5), dls_trace_id(trace, 5));
    dls_saved_close(file);
    unlink(path);
}

TEST(turned_away)
{
    static const dls_sched_ops picky = {.abi = DLS_POLICY_ABI,
                                        .name = "picky",
                                        .summary = "nothing large",
                                        .discipline = DLS_STRICT,
                                        .admit = only_small,
                                        .priority = last_first};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(9, 100);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, NULL);
    must(dls_setup_sched(setup, &picky, &err));
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
    must(dls_simulation_run(sim, &err));
    size_t large = 0;
    for (size_t j = 0; j < 100; j++) {
        large += dls_trace_cols(trace)->gpus[j] == 8;
    }
    const dls_counts c = dls_simulation_counts(sim);
    assert_true(large > 0);
    assert_int_equal(c.declined, large);
    assert_int_equal(c.finished, 100 - large);
    assert_int_equal(c.submitted, 100);
}

/* ---- the process ----------------------------------------------------------------------------- */

TEST(nothing_is_left)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(2, 30);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, "srtf");
    size_t used = 0;
    for (int i = 0; i < 1000; i++) {
        dls_simulation *sim = simulation_of(setup, trace);
        if (i % 3 != 0) {
            must(dls_simulation_run_until(sim, i * INT64_C(1000000), &err));
        }
        dls_simulation_destroy(sim);
        used = i == 99 ? mallinfo2().uordblks : used;
    }
    /* The C library's own caches may move a little; a block lost per run would be seen. */
    assert_true(mallinfo2().uordblks < used + 900 * 32);
}

/* Make numbers have a decimal comma in this process. */
static bool use_comma(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "cd %s && printf '%%s\\n' 'LC_NUMERIC' 'decimal_point \",\"' 'thousands_sep \"\"' "
             "'grouping -1' 'END LC_NUMERIC' >source && localedef -c -i source -f UTF-8 ./comma "
             ">log 2>&1",
             folder);
    const int made = system(command);
    setenv("LOCPATH", folder, 1);
    return made >= 0 && setlocale(LC_NUMERIC, "comma") && *localeconv()->decimal_point == ',';
}

/* The same configuration, the same trace, the same run, the same text. */
TEST(other_locale)
{
    static const char text[] = "job_id,num_gpu,submit_time,duration\na,1,0.5,1.25\nb,2,1.75,2.5\n";
    char path[2][256];
    uint64_t digest[2];
    double iteration_s[2];
    snprintf(path[0], sizeof path[0], "%s", put("read.csv", text));
    snprintf(path[1], sizeof path[1], "%s", in_folder("written.csv"));
    for (int k = 0; k < 2; k++) {
        if (k == 1 && !use_comma())
            skip();
        dls_trace *trace;
        DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT "scheduler: { restore_cost = \"1.5 s\"; };", "srtf");
        must(dls_setup_set(setup, "trace.path", path[0], &err));
        must(dls_setup_set(setup, "cluster.nodes[0].nic", "12.5 Gb/s", &err));
        must(dls_setup_trace(setup, &trace, &err));
        assert_int_equal(dls_trace_cols(trace)->submit_us[0], 500000);
        dls_trace_destroy(trace);
        must(dls_trace_load(path[0], NULL, NULL, &trace, &err));
        assert_int_equal(dls_trace_cols(trace)->submit_us[0], 500000);
        digest[k] = digest_of_run(setup, trace);
        must(dls_trace_save_csv(trace, path[1], &err));
        dls_trace_destroy(trace);
        must(dls_trace_load(path[1], NULL, NULL, &trace, &err));
        assert_int_equal(dls_trace_cols(trace)->duration_us[0], 1250000);
        dls_trace_destroy(trace);
        dls_synth_params synth;
        dls_synth_params_init(&synth);
        must(dls_synth_parse_queueing("0.05:0.5", &synth, &err));
        assert_true(synth.waiting_frac == 0.05 && synth.time_frac == 0.5);
        dls_step_predictor *steps = NULL;
        dls_step_answer answer;
        const dls_step_predictor_params of = {.source = "operator"};
        const dls_step_question question = {.model = "efficientnet_b0", .batch = 8, .gpu = "V100"};
        must(dls_step_predictor_create(&of, &steps, &err));
        must(dls_step_predict(steps, &question, 1, &answer, &err));
        dls_step_predictor_destroy(steps);
        iteration_s[k] = answer.prediction.iteration_s;
        dls_error said; /* as while a simulation runs */
        (void)dls_fail(&said, DLS_ERUN, NULL, "%.1f s", 1.5);
        assert_string_equal(said.msg, "1.5 s");
        assert_string_equal(localeconv()->decimal_point,
                            k ? "," : "."); /* the caller's is as it was */
    }
    setlocale(LC_ALL, "C");
    assert_int_equal(digest[0], digest[1]);
    assert_true(iteration_s[0] == iteration_s[1]);
}

/* A graph of one product that trains, with so many columns. */
static void put_net(const char *path, int columns)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(
        out,
        "node { name: \"x\" op: \"Placeholder\" attr { key: \"shape\" value { shape {"
        " dim { size: -1 } dim { size: 64 } } } } attr { key: \"dtype\" value { type: DT_FLOAT } }"
        " }\nnode { name: \"w\" op: \"Const\" attr { key: \"dtype\" value { type: DT_FLOAT } }"
        " attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape {"
        " dim { size: 64 } dim { size: %d } } } } } }\n"
        "node { name: \"y\" op: \"MatMul\" input: \"x\" input: \"w\""
        " attr { key: \"T\" value { type: DT_FLOAT } } }\n",
        columns);
    assert_int_equal(fclose(out), 0);
}

/* Simulations of one process know their own files of graphs alone, even by the same name. */
TEST(graph_files)
{
    char path[256], stand_ins[272];
    uint64_t alone[2];
    dls_simulation *sim[2];
    dls_trace_builder *b;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.gpus_milli = 8000;
    rec.duration_us = 100000000;
    rec.model = "mine";
    must(dls_trace_builder_create(NULL, &b, &err));
    must(dls_trace_builder_add(b, &rec, "here", &err));
    must(dls_trace_builder_finish(b, &trace, &err));
    snprintf(path, sizeof path, "%s", in_folder("mine.pbtxt"));
    snprintf(stand_ins, sizeof stand_ins, "mine=%s", path);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT "perf: { model = \"operator\"; };", "fifo");
    must(dls_setup_set(setup, "trace.stand_ins", stand_ins, &err));
    must(dls_setup_set(setup, "cluster.nodes[0].nic", "10 Gb/s", &err));
    must(dls_setup_set(setup, "placement.name", "spread", &err));
    for (int k = 0; k < 2; k++) {
        put_net(path, k ? 100000 : 8);
        alone[k] = digest_of_run(setup, trace);
    }
    assert_true(alone[0] != alone[1]);
    for (int k = 0; k < 2; k++) {
        put_net(path, k ? 100000 : 8);
        sim[k] = simulation_of(setup, trace);
    }
    for (int k = 0; k < 2; k++) {
        must(dls_simulation_run(sim[k], &err));
        assert_int_equal(dls_simulation_digest(sim[k]), alone[k]);
        dls_simulation_destroy(sim[k]);
    }
}
