/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sia: optima of the integer programmes that the authors' simulator solved.
 */
#define OWN_MAIN
#include "pollux/core.h"
#include "support/json.h"
#include "support/shared.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const dls_sia_terms terms = {-0.5, 1.1};

typedef struct columns {
    dls_sia_config config[DLS_SIA_CONFIGS];
    int32_t n, types;
    int64_t capacity[DLS_TYPES_MAX];
} columns;

/* "# types: aws:4x16" */
static void read_types(char *line, columns *c)
{
    int32_t per_node[DLS_TYPES_MAX], nodes[DLS_TYPES_MAX];
    *c = (columns){0};
    for (char *word = strtok(line + strlen("# types: "), " \n"); word; word = strtok(NULL, " \n")) {
        assert_int_equal(
            2, sscanf(strchr(word, ':') + 1, "%dx%d", &per_node[c->types], &nodes[c->types]));
        c->capacity[c->types] = per_node[c->types] * nodes[c->types];
        c->types++;
    }
    c->n = dls_sia_configs(c->types, per_node, nodes, c->config);
}

/* A or R name present pinned factor ... */
static void read_job(char *line, const columns *c, dls_choice *p)
{
    dls_sia_config config[DLS_SIA_CONFIGS];
    double value[DLS_SIA_CONFIGS];
    dls_error err;
    const bool rigid = line[0] == 'R';
    strtok(line, " ");
    strtok(NULL, " ");
    const int present = atoi(strtok(NULL, " ")), pinned = atoi(strtok(NULL, " "));
    const double factor = strtod(strtok(NULL, " "), NULL);
    const int32_t gang = rigid ? atoi(strtok(NULL, " ")) : 0;
    int32_t n = 0;
    for (char *word; (word = strtok(NULL, " \n")); n++) {
        value[n] = strcmp(word, "-") == 0 ? DLS_SIA_NONE : strtod(word, NULL);
        config[n] = rigid ? (dls_sia_config){n, 0, gang} : c->config[n];
    }
    assert_int_equal(rigid ? c->types : c->n, n);
    assert_int_equal(DLS_OK,
                     dls_sia_add(p, &terms, config, value, n, present, pinned, factor, &err));
}

static void programmes(void **state)
{
    const char *name = *state;
    char file[128], path[512], line[4096];
    columns c = {0};
    dls_choice p = {0};
    dls_error err;
    double want = -1, off = 0, seconds = 0;
    size_t n = 0, wrong = 0;
    snprintf(file, sizeof file, "golden/sia/programmes/%s.txt", name);
    SHARED_OR_SKIP(file, path);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, f) != NULL;
        if ((!more || line[0] == 'P') && want >= 0) {
            const clock_t begin = clock();
            assert_int_equal(DLS_OK, dls_choice_solve(&p, 0, &err));
            seconds += (double)(clock() - begin) / CLOCKS_PER_SEC;
            assert_true(p.solved);
            off = fmax(off, fabs(p.cost - want) / want);
            if (!(fabs(p.cost - want) <= 1e-4 * want) && wrong++ < 5) {
                print_error("%s: programme %zu: %.9f, expected %.9f, bound %.9f\n", name, n, p.cost,
                            want, p.bound);
            }
            assert_true(p.bound <= p.cost + 1e-9);
            n++;
        }
        if (more && line[0] == 'P') {
            assert_int_equal(1, sscanf(line, "P %*s %*s %*s %lf", &want));
            dls_choice_begin(&p, c.types, c.capacity);
        } else if (more && line[0] == '#') {
            read_types(line, &c);
        } else if (more) {
            read_job(line, &c, &p);
        }
    }
    fclose(f);
    dls_choice_fini(&p);
    printf("%s: %zu programmes, at most %.1e off, %.3f ms each\n", name, n, off,
           seconds / (double)n * 1e3);
    assert_int_equal(0, wrong);
}

/* ---- rows and factors, from what a round knew ------------------------------------------------ */

static dls_pollux_apps apps;

/* job: filled, of a job of the states; its most replicas are of the one type. */
static void read_state(json_object *state, dls_pollux_kind kind, dls_pollux_job *job,
                       dls_pollux_run_job *run)
{
    json_object *grad = member(state, "grad"), *model = member(member(state, "model"), "aws");
    const bool tunes = json_object_get_boolean(member(state, "tune"));
    *job = (dls_pollux_job){
        .app = dls_pollux_app_find(&apps, json_object_get_string(member(state, "app"))),
        .kind = tunes || kind == DLS_POLLUX_RIGID ? kind : DLS_POLLUX_SCALES,
        .gpus = json_object_get_int(member(state, "replicas")),
        .batch = json_object_get_int(member(state, "target")),
        .restarts = json_object_get_int(member(state, "restarts")),
        .gpu_s = json_object_get_int64(member(state, "service"))};
    assert_non_null(job->app);
    *run = (dls_pollux_run_job){.job = job,
                                .app = job->app,
                                .sia = true,
                                .batch = tunes ? 0 : job->batch,
                                .most_seen =
                                    json_object_get_int(member(member(state, "most"), "aws"))};
    run->sqr = grad ? number(grad, 0) : 0;
    run->var = grad ? number(grad, 1) : 0;
    run->on[0].app = job->app;
    run->on[0].gpus_per_node = 4;
    run->on[0].model.fitted = model != NULL;
    for (size_t k = 0; model && k < DLS_GOODPUT_PARAMS; k++) {
        run->on[0].model.p[k] = number(model, k);
    }
}

static void compare_round(json_object *round, const columns *c, size_t *rows, double *off)
{
    static const char *const lists[] = {"jobs", "rigid"}, *const factors[] = {"factor", "rfactor"};
    for (int l = 0; l < 2; l++) {
        json_object *list = member(round, lists[l]), *factor = member(round, factors[l]);
        for (size_t i = 0; i < json_object_array_length(list); i++) {
            const char *name = json_object_get_string(json_object_array_get_idx(list, i));
            json_object *state = member(member(round, "state"), name);
            dls_pollux_job job;
            dls_pollux_run_job run;
            double value[DLS_SIA_CONFIGS];
            read_state(state, l == 0 ? DLS_POLLUX_ADAPTIVE : DLS_POLLUX_RIGID, &job, &run);
            const double got =
                dls_pollux_sia_factor(&run, json_object_get_int64(member(state, "age")));
            *off = fmax(*off, fabs(got - number(factor, i)));
            json_object *want = json_object_array_get_idx(member(round, "A"), i);
            for (int32_t k = 0; l == 0 && k < c->n; k++) {
                if (k == 0) {
                    dls_pollux_sia_row(&run, c->config, c->n, value);
                    ++*rows;
                }
                const double by = fabs(value[k] / number(want, (size_t)k) - 1);
                if (by > 2e-6) {
                    print_error("%s, configuration %d: %.7f, expected %.7f\n", name, k, value[k],
                                number(want, (size_t)k));
                }
                *off = fmax(*off, by);
            }
        }
    }
}

static void rows(void **state)
{
    const char *const name = *state;
    const int32_t per_node = 4, nodes = 4;
    columns c = {0};
    char file[128], path[512];
    size_t n = 0;
    double off = 0;
    snprintf(file, sizeof file, "golden/sia/programmes/%s.states.json", name);
    assert_true(shared_path(file, path, sizeof path));
    json_object *all = json_object_from_file(path);
    assert_non_null(all);
    c.n = dls_sia_configs(1, &per_node, &nodes, c.config);
    for (size_t i = 0; i < json_object_array_length(all); i++) {
        compare_round(json_object_array_get_idx(all, i), &c, &n, &off);
    }
    json_object_put(all);
    printf("%s: %zu rows, at most %.1e off\n", name, n, off);
    assert_true(off <= 2e-6); /* theirs have 32 bits and six digits */
}

/* ---- whole runs ------------------------------------------------------------------------------ */

typedef struct one_run {
    const char *name, *apps; /* of the jobs, "" all but ncf */
    size_t jobs;
    int32_t nodes;
    bool mixed; /* categories in turn */
    double least,
        most; /* average completion times that the authors' program has with its solvers */
} one_run;

/* Many optima: the average is to be within 5 % of what several solvers make of it. */
static void replay(void **state)
{
    const one_run *r = *state;
    const dls_pollux_params params = {
        .nodes = r->nodes, .gpus_per_node = 4, .interval_s = 60, .schedule = "sia"};
    char path[512];
    DLS_OWN(dls_pollux_trace_fini) dls_pollux_trace t = {0};
    dls_error err;
    size_t n = 0;
    double jct = 0;
    assert_true(shared_path("golden/pollux/workloads/load-1.0/workload-6.csv", path, sizeof path));
    assert_int_equal(DLS_OK, dls_pollux_load(path, &apps, &t, &err));
    for (size_t i = 0; i < t.n && n < r->jobs; i++) {
        const char *app = t.job[i].app->name;
        if (strcmp(app, "ncf") != 0 && (!*r->apps || strstr(r->apps, app))) {
            t.job[n] = t.job[i];
            t.job[n].kind = r->mixed ? (dls_pollux_kind)(n % 3) : DLS_POLLUX_ADAPTIVE;
            n++;
        }
    }
    t.n = n;
    assert_int_equal(r->jobs, n);
    if (dls_pollux_run(&params, &t, NULL, &err) != DLS_OK) {
        fail_msg("%s: %s: %s", r->name, err.where, err.msg);
    }
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(t.job[i].epochs, t.job[i].app->epochs);
        jct += (double)(t.job[i].end_s - t.job[i].submit_s) / (double)n;
    }
    printf("%s: average JCT %.1f s, theirs %.1f to %.1f\n", r->name, jct, r->least, r->most);
    assert_true(jct >= 0.95 * r->least && jct <= 1.05 * r->most);
}

static const one_run runs[] = {
    {"20 jobs on 64 GPUs", "", 20, 16, false, 3103.1, 3103.1},
    {"16 jobs on 16 GPUs", "cifar10 deepspeech2 bert", 16, 4, false, 5535.2, 5657.1},
    {"16 jobs of all categories", "cifar10 deepspeech2 bert", 16, 4, true, 6406.4, 6406.4}};

/* Three GPU types. Profiles of two of them have no licence: theirs are those of the T4 with times
 * divided by what the authors' program took one GPU of that type to be worth. That is no equality:
 * everything ends, and sooner than on the T4s alone. */
static const struct ratio {
    const char *app;
    double a100, rtx;
} ratios[] = {{"cifar10", 6.899261, 2.266939},
              {"deepspeech2", 2.461375, 1.667671},
              {"bert", 10.784924, 2.061944}};

static void faster(dls_pollux_curves *c, double by)
{
    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < c->of[i].n; k++) {
            c->of[i].at[k].t.step /= by;
            c->of[i].at[k].t.sync /= by;
        }
    }
}

static void three_types(void **state)
{
    dls_pollux_type more[2] = {{.nodes = 2, .gpus_per_node = 8}, {.nodes = 3, .gpus_per_node = 8}};
    dls_pollux_params params = {
        .nodes = 6, .gpus_per_node = 4, .interval_s = 60, .schedule = "sia", .more = more};
    char folder[512], path[512];
    dls_pollux_trace t;
    dls_error err;
    size_t n = 0;
    double jct[2] = {0};
    int32_t restarts = 0;
    assert_true(shared_path("data/pollux_aws_t4", folder, sizeof folder));
    assert_true(shared_path("golden/pollux/workloads/load-1.0/workload-6.csv", path, sizeof path));
    for (int k = 0; k < 2; k++) {
        assert_int_equal(DLS_OK, dls_pollux_apps_load(folder, NULL, &more[k].apps, &err));
        for (size_t i = 0; i < more[k].apps.n; i++) {
            dls_pollux_app *a = &more[k].apps.app[i];
            for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
                if (strcmp(a->name, ratios[r].app) == 0) {
                    faster(&a->placements, k ? ratios[r].rtx : ratios[r].a100);
                    faster(&a->lattice, k ? ratios[r].rtx : ratios[r].a100);
                }
            }
        }
    }
    assert_int_equal(DLS_OK, dls_pollux_load(path, &apps, &t, &err));
    for (size_t i = 0; i < t.n && n < 8; i++) {
        if (strcmp(t.job[i].app->name, "ncf") != 0) {
            t.job[n++] = t.job[i];
        }
    }
    t.n = n;
    for (params.n_more = 0; params.n_more <= 2; params.n_more += 2) {
        if (dls_pollux_run(&params, &t, NULL, &err) != DLS_OK) {
            fail_msg("%s: %s", err.where, err.msg);
        }
        restarts = 0;
        for (size_t i = 0; i < n; i++) {
            const dls_pollux_job *j = &t.job[i];
            assert_int_equal(j->epochs, j->app->epochs);
            jct[params.n_more / 2] += (double)(j->end_s - j->submit_s) / (double)n;
            restarts += j->restarts;
        }
    }
    printf("8 jobs on three types: average JCT %.1f s, %d restarts (theirs 862.9 s, 30); on T4s "
           "alone %.1f s\n",
           jct[1], restarts, jct[0]);
    assert_true(jct[1] < jct[0]);
    dls_pollux_trace_fini(&t);
    dls_pollux_apps_fini(&more[0].apps);
    dls_pollux_apps_fini(&more[1].apps);
}

static int set_up(void **state)
{
    char folder[512];
    dls_error err;
    if (!shared_path("data/pollux_aws_t4", folder, sizeof folder) ||
        !shared_path("golden/sia", folder + 256, 256)) {
        exit(77);
    }
    return dls_pollux_apps_load(folder, NULL, &apps, &err) == DLS_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    dls_pollux_apps_fini(&apps);
    return 0;
}

#define ONE(function, name)                                                                        \
    {                                                                                              \
        name, function, NULL, NULL, (void *)(uintptr_t)name                                        \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(programmes, "w6-20-n16-cbc"),
        ONE(programmes, "w6-8-hetero-cbc"),
        ONE(programmes, "w6-16-n4-cbc"),
        ONE(programmes, "w6-16-n4-glpk"),
        ONE(programmes, "w6-16-n4-mixed-cbc"),
        ONE(rows, "w6-16-n4-cbc"),
        ONE(rows, "w6-16-n4-glpk"),
        ONE(rows, "w6-16-n4-mixed-cbc"),
        {runs[0].name, replay, NULL, NULL, (void *)(uintptr_t)&runs[0]},
        {runs[1].name, replay, NULL, NULL, (void *)(uintptr_t)&runs[1]},
        {runs[2].name, replay, NULL, NULL, (void *)(uintptr_t)&runs[2]},
        cmocka_unit_test(three_types)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
