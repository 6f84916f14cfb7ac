/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The configuration loader: values, precedence, every kind of mistake, failed allocations.
 */

#include "base/alloc.h"
#include "config/config.h"
#include "base/options.h"
#include "support/must.h"
#include "support/refuse.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "schema_version = 1;\n"
#define NODES "cluster: { nodes = ({ count = 4; gpus = 8; gpu_type = \"V100\"; }); };\n"

static dls_registry *registry;

static dls_status no_round(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    return DLS_OK;
}

static void no_timing(const void *state, dls_round_timing *out)
{
    out->interval_us = DLS_US_PER_S;
}

static int setup(void **state)
{
    static const dls_option options[] = {
        {"link", DLS_OPT_RATE, 0, 1e12, "100 Gb/s", "", "a rate", NULL},
        {"buffer", DLS_OPT_BYTES, 0, 1e12, "1 GiB", "", "a size", NULL},
        {0}};
    static const dls_sched_ops rounds = {.abi = DLS_POLICY_ABI,
                                         .name = "rounds",
                                         .summary = "nothing",
                                         .options = options,
                                         .round = no_round,
                                         .timing = no_timing};
    return dls_registry_create(&registry, NULL) == DLS_OK &&
                   dls_registry_add(registry, &rounds, NULL, NULL) == DLS_OK
               ? 0
               : -1;
}

static int teardown(void **state)
{
    dls_registry_destroy(registry);
    return 0;
}

static dls_status load_with(const char *content, const dls_override *overrides, size_t n,
                            dls_problems *problems, dls_config **out)
{
    dls_error err = {0};
    const dls_config_request request = {.path = "my.cfg",
                                        .content = content,
                                        .overrides = overrides,
                                        .n_overrides = n,
                                        .registry = registry};
    return dls_config_load(&request, problems, out, &err);
}

/* The configuration, which must be good. */
static dls_config *good_with(const char *content, const dls_override *overrides, size_t n)
{
    dls_problems problems = {0};
    dls_config *config = NULL;
    if (load_with(content, overrides, n, &problems, &config) != DLS_OK) {
        fail_msg("%s", problems.kept ? problems.text[0] : "no problem listed");
    }
    assert_int_equal(problems.n, 0);
    dls_problems_fini(&problems);
    return config;
}

static dls_config *good(const char *content)
{
    return good_with(content, NULL, 0);
}

/* One mistake: exactly this problem. */
static void wrong_with(const char *content, const dls_override *overrides, size_t n,
                       const char *says)
{
    DLS_OWN(dls_problems_fini) dls_problems problems = {0};
    dls_config *config = NULL;
    const dls_status status = load_with(content, overrides, n, &problems, &config);
    if (status != DLS_ECONFIG || problems.n != 1 || !strstr(problems.text[0], says)) {
        for (size_t i = 0; i < problems.kept; i++) {
            print_message("  %s\n", problems.text[i]);
        }
        fail_msg("expected \"%s\", got status %s and %zu problems", says, dls_status_name(status),
                 problems.n);
    }
    assert_null(config);
}

static void wrong(const char *content, const char *says)
{
    wrong_with(content, NULL, 0, says);
}

TEST(defaults)
{
    DLS_HOLD(dls_config_destroy) dls_config *c = good(HEAD NODES);
    assert_int_equal(c->cluster.n_groups, 1);
    assert_int_equal(c->cluster.groups[0].nodes, 4);
    assert_int_equal(c->cluster.groups[0].gpus_per_node, 8);
    assert_string_equal(c->cluster.groups[0].name, "group0");
    assert_string_equal(c->cluster.types[0].name, "V100");
    assert_string_equal(c->sim.sched->name, "fifo");
    assert_string_equal(c->sim.placement->name, "consolidated");
    assert_int_equal(c->sim.discipline, -1);
    assert_true(c->sim.restore_us == 62 * DLS_US_PER_S);
    assert_true(c->sim.until_us == DLS_NEVER);
    assert_true(c->sim.estimates_exact && c->sim.want_allocs && c->sim.want_series);
    assert_false(c->sim.audit || c->trace_options.keep_zero_duration);
    assert_int_equal(c->sim.seed, 1);
    assert_int_equal(c->sim.patience, 1000000);
    assert_string_equal(c->trace_path, "");
    assert_string_equal(c->results_path, "");
}

TEST(values)
{
    DLS_HOLD(dls_config_destroy) dls_config *c = good(
        HEAD "name = \"a \\\"b\\\"\";\n"
             "cluster: { rack_uplink = \"400 Gb/s\";\n"
             "  gpu_types = ({ name = \"X1\"; memory = \"24 GiB\"; fp32 = \"10 TFLOP/s\"; });\n"
             "  nodes = ({ name = \"n\"; count = 6; gpus = 4; gpu_type = \"x1\"; rack_size = 3;\n"
             "             cpus = 32; memory = \"256 GiB\"; nic = \"12.5 GB/s\"; },\n"
             "           { count = 2; gpus = 8; gpu_type = \"A100\"; cpus = 1.5; });\n"
             "  virtual_clusters = ({ name = \"u\"; gpus = 8; gpu_type = \"X1\"; },\n"
             "                      { name = \"u\"; gpus = 4; gpu_type = \"A100\"; }); };\n"
             "trace: { path = \"jobs.csv\"; zero_duration = \"drop\"; max_jobs = 10; };\n"
             "scheduler: { name = \"dlas-gpu\"; discipline = \"fit\"; restore_cost = 0.5;\n"
             "  estimates = \"limit\"; queue_limits = (100, 2000.5); };\n"
             "run: { seed = 9000000000L; until = \"7d\"; audit = true; patience = 0; };\n"
             "results: { warmup = 60; cooldown = \"1 h\"; series = false; path = \"r.h5\"; };\n");
    assert_string_equal(c->name, "a \"b\"");
    assert_int_equal(c->cluster.n_types, 2);
    assert_true(c->cluster.types[0].mem_gib > 23.99 && c->cluster.types[0].mem_gib < 24.01);
    assert_int_equal(c->cluster.groups[0].nodes_per_rack, 3);
    assert_true(c->cluster.groups[0].nic_bps > 12.4e9 && c->cluster.groups[0].nic_bps < 12.6e9);
    assert_int_equal(c->cluster.groups[1].type, 1);
    assert_int_equal(c->cluster.n_vcs, 1);
    assert_int_equal(c->cluster.vcs[0].quota_gpus[0], 8);
    assert_int_equal(c->cluster.vcs[0].quota_gpus[1], 4);
    assert_true(c->trace_options.drop_zero_duration);
    assert_int_equal(c->trace_options.max_jobs, 10);
    assert_int_equal(c->sim.discipline, DLS_FIT);
    assert_int_equal(c->sim.restore_us, 500000);
    assert_false(c->sim.estimates_exact);
    const dls_option *limits = dls_options_find(c->sim.sched->options, "queue_limits");
    assert_non_null(limits);
    assert_int_equal(c->sched_values[limits - c->sim.sched->options].n_list, 2);
    assert_true(c->sim.seed == UINT64_C(9000000000));
    assert_int_equal(c->sim.patience, 0);
    assert_true(c->sim.until_us == 604800 * DLS_US_PER_S);
    assert_true(c->warmup_us == 60 * DLS_US_PER_S && c->cooldown_us == 3600 * DLS_US_PER_S);
    assert_false(c->sim.want_series);
    /* The resolved text says the same. */
    DLS_HOLD(dls_config_destroy) dls_config *again = good(c->text);
    assert_string_equal(again->text, c->text);
    assert_int_equal(again->cluster.vcs[0].quota_gpus[1], 4);
}

TEST(precedence)
{
    const char *file = HEAD NODES "scheduler: { name = \"dlas-gpu\"; restore_cost = 5; "
                                  "queue_limits = [7]; };\nrun: { seed = 3; };\n";
    const dls_override seed[] = {{"run.seed", "4", "--seed"}, {NULL, "run.seed=5", "--set"}};
    dls_config *c = good_with(file, seed, 2);
    assert_int_equal(c->sim.seed, 5); /* the last one counts */
    assert_int_equal(c->sim.restore_us, 5000000);
    assert_true(c->sched_values[0].n_list == 1);
    dls_config_destroy(c);

    /* Another scheduler: the file's options of the first are left out, its own can be set. */
    const dls_override other[] = {{"scheduler.name", "gandiva", "--scheduler"},
                                  {NULL, "scheduler.slice=30", "--set"},
                                  {NULL, "cluster.nodes[0].count=9", "--set"}};
    c = good_with(file, other, 3);
    assert_string_equal(c->sim.sched->name, "gandiva");
    assert_true(c->sched_values[0].f > 29.9 && c->sched_values[0].f < 30.1);
    assert_int_equal(c->cluster.groups[0].nodes, 9);
    dls_config_destroy(c);

    /* Options with units. */
    c = good(HEAD NODES "scheduler: { name = \"rounds\"; link = \"8 Gb/s\"; };\n");
    assert_true(c->sched_values[0].f > 0.99e9 && c->sched_values[0].f < 1.01e9);
    assert_non_null(strstr(c->text, "link = \"8 Gb/s\";\n    buffer = \"1 GiB\";"));
    dls_config_destroy(c);

    /* Wrong in the file is wrong all the same. */
    wrong_with(HEAD NODES "scheduler: { name = \"dlas-gpu\"; queue_limits = [7, 6]; };\n", other, 1,
               "my.cfg:3: 'scheduler.queue_limits' is \"7,6\": expected up to 32 ascending");
    const dls_override bad[] = {{NULL, "scheduler.queue_limits=3", "--set"}};
    wrong_with(HEAD NODES, bad, 1, "--set: unknown key 'scheduler.queue_limits': fifo has no such");
    const dls_override beyond[] = {{NULL, "cluster.nodes[2].count=3", "--set"}};
    wrong_with(HEAD NODES, beyond, 1, "the list has 1 elements");
    const dls_override half[] = {{NULL, "cluster.nodes[1].count=3", "--set"},
                                 {NULL, "cluster.nodes[1].gpu_type=V100", "--set"}};
    wrong_with(HEAD NODES, half, 2, "'cluster.nodes[1].gpus' is missing");
    const dls_override gone[] = {{NULL, "cluster.nodes[0].count=0", "--set"}};
    wrong_with(HEAD NODES, gone, 1, "");
    const dls_override list[] = {{NULL, "cluster.nodes=3", "--set"}};
    wrong_with(HEAD NODES, list, 1, "'cluster.nodes' is a list");
    const dls_override nothing[] = {{NULL, "=3", "--set"}};
    wrong_with(HEAD NODES, nothing, 1, "is not key=value");
    const dls_override brackets[] = {{NULL, "cluster.nodes[x].count=3", "--set"}};
    wrong_with(HEAD NODES, brackets, 1, "is no key");
}

TEST(mistakes)
{
    static const char *const cases[][2] = {
        {NODES, "my.cfg: 'schema_version' is missing"},
        {"schema_version = 2;\n" NODES, "'schema_version' is \"2\""},
        {HEAD, "'cluster.nodes' is missing"},
        {HEAD "cluster: { nodes = (); };\n", "'cluster.nodes' is missing or empty"},
        {HEAD "cluster: { nodes = (3); };\n" NODES, "duplicate"},
        {HEAD NODES "sed = 3;\n", "my.cfg:3: unknown key 'sed'"},
        {HEAD NODES "run: { sed = 3; };\n", "did you mean 'run.seed'?"},
        {HEAD NODES "seed = 3;\n", "did you mean 'run.seed'?"},
        {HEAD NODES "run = 3;\n", "'run' is an integer: expected group"},
        {HEAD NODES "run: { seed = 1.5; };\n", "'run.seed' is a number: expected integer"},
        {HEAD NODES "run: { seed = -1; };\n", "'run.seed' is \"-1\""},
        {HEAD NODES "run: { seed = 3000000000; };\n", "my.cfg:3: the number 3000000000"},
        {HEAD NODES "run: { seed = 0xFFFFFFFF; };\n", "my.cfg:3: the number 0xFFFFFFFF"},
        {HEAD NODES "run: { seed = 99999999999999999999L; };\n", "does not fit 64 bits"},
        {HEAD NODES "run: { audit = 1; };\n", "expected true or false"},
        {HEAD NODES "perf: { model = \"tabel\"; };\n", "expected one of"},
        {HEAD NODES "run: { until = \"7 y\"; };\n", "unknown unit 'y'"},
        {HEAD NODES "run: { until = true; };\n", "expected time"},
        {HEAD NODES "scheduler: { restore_cost = \"-1 s\"; };\n", "expected 0 s to"},
        {HEAD NODES "scheduler: { restore_cost = \"never\"; };\n", "expected 0 s to"},
        {HEAD NODES "scheduler: { name = 3; };\n", "'scheduler.name' is an integer"},
        {HEAD NODES "scheduler: { name = \"fiof\"; };\n", "did you mean 'fifo'?"},
        {HEAD NODES "scheduler: { name = \"\"; };\n", "expected text in quotes, not empty"},
        {HEAD NODES "scheduler: { name = \"rounds\"; discipline = \"fit\"; };\n",
         "takes jobs in its own way"},
        {HEAD NODES "scheduler: { reserve = \"nodes\"; };\n", "only discipline \"easy\" reserves nodes"},
        {HEAD NODES "scheduler: { name = \"easy\"; discipline = \"fit\"; reserve = \"nodes\"; };\n",
         "only discipline \"easy\" reserves nodes"},
        {HEAD NODES "scheduler: { name = \"rounds\"; link = \"5 GB\"; };\n",
         "'scheduler.link' \"5 GB\" has the unknown unit"},
        {HEAD NODES "scheduler: { name = \"rounds\"; buffer = 5; };\n", "has no unit"},
        {HEAD NODES "scheduler: { quantum = 3; };\n", "fifo has no such option"},
        {HEAD NODES "scheduler: { seed = 3; };\n", "did you mean 'run.seed'?"},
        {HEAD NODES "scheduler: { slice = { a = 1; }; };\n", "is a group"},
        {HEAD NODES "scheduler: { slice = ((1)); };\n", "not a list of up to 32 numbers"},
        {HEAD NODES "scheduler: { name = \"gandiva\"; slice = 0.5; };\n",
         "'scheduler.slice' is \"0.5\": expected 1 s to"},
        {HEAD NODES "placement: { name = \"nowhere\"; };\n", "unknown placement 'nowhere'"},
        {HEAD NODES "placement: { speed = 3; };\n", "consolidated has no such option"},
        {HEAD NODES "trace: { format = \"tiresia\"; };\n", "did you mean 'tiresias'?"},
        {HEAD NODES "perf: { model = \"magic\"; };\n", "expected one of trace"},
        {HEAD "cluster: { nodes = ({ count = -1; gpus = 8; gpu_type = \"V100\"; }); };\n",
         "'cluster.nodes[0].count' is \"-1\""},
        {HEAD "cluster: { nodes = ({ gpus = 8; gpu_type = \"V100\"; }); };\n",
         "my.cfg:2: 'cluster.nodes[0].count' is missing"},
        {HEAD "cluster: { nodes = ({ count = 1; gpus = 8; gpu_type = \"H1000\"; }); };\n",
         "unknown GPU type 'H1000'"},
        {HEAD "cluster: { nodes = ({ count = 1; gpus = 8; gpu_type = \"V100\"; cpu = 4; }); };\n",
         "unknown key 'cluster.nodes[0].cpu' (did you mean 'cpus'?)"},
        {HEAD "cluster: { nodes = ({ count = 1; gpus = 8; gpu_type = \"V100\"; }, 5); };\n",
         "'cluster.nodes[1]' is an integer"},
        {HEAD "cluster: { nodes = { count = 1; }; };\n", "expected list"},
        {HEAD "cluster: { nodes = ({ name = \"a\"; count = 1; gpus = 8; gpu_type = \"V100\"; },\n"
              "{ name = \"a\"; count = 1; gpus = 8; gpu_type = \"V100\"; }); };\n",
         "'a' is there twice"},
        {HEAD "cluster: { nodes = ({ count = 4; gpus = 8; gpu_type = \"V100\"; });\n"
              "virtual_clusters = ({ name = \"v\"; gpus = 33; }); };\n",
         "promised 33 GPUs"},
        {HEAD "cluster: { nodes = ({ count = 4; gpus = 8; gpu_type = \"V100\"; });\n"
              "virtual_clusters = ({ name = \"v\"; gpus = 3; gpu_type = \"P100\"; }); };\n",
         "no node of the cluster has GPUs of type 'P100'"},
        {HEAD "cluster: { nodes = ({ count = 4; gpus = 8; gpu_type = \"V100\"; });\n"
              "virtual_clusters = ({ name = \"v\"; gpus = 3; }, { name = \"v\"; gpus = 3; }); };\n",
         "has a quota for this GPU type already"},
        {HEAD "cluster: { nodes = ({ count = 1; gpus = 1; gpu_type = \"V100\"; },\n"
              "{ count = 1; gpus = 1; gpu_type = \"P100\"; });\n"
              "virtual_clusters = ({ name = \"v\"; gpus = 1; }); };\n",
         "'cluster.virtual_clusters[0].gpu_type' is missing"},
        {HEAD "cluster: { gpu_types = ({ name = \"Q\"; }, { name = \"q\"; });\n"
              "nodes = ({ count = 1; gpus = 1; gpu_type = \"Q\"; }); };\n",
         "'q' is there twice"},
        {HEAD NODES "run: {\n", "my.cfg:4: syntax error"},
        {HEAD NODES "@include \"nowhere.cfg\"\n", "my.cfg:3: cannot include \"nowhere.cfg\""},
        {HEAD NODES "@include \"/etc/passwd\"\n", "relative to the configuration's folder"},
        {HEAD NODES "@include \"tests\"\n", "cannot include"},
        {HEAD NODES "@include nowhere\n", "in quotes is missing"},
        {HEAD NODES "run: { seed = 1; };\nrun: { seed = 2; };\n", "duplicate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wrong(cases[i][0], cases[i][1]);
    }
}

/* Numbers in comments, strings and names are none of the prescan's business. */
TEST(prescan_is_not_fooled)
{
    DLS_HOLD(dls_config_destroy) dls_config *c = good(HEAD NODES "# 9000000000\n// 9000000000\n/* 9000000000\n */\n"
                                    "name = \"9000000000 \\\" 9000000000\";\n"
                                    "run: { seed = 2147483647; until = 9e9; };\n");
    assert_int_equal(c->sim.seed, INT32_MAX);
}

TEST(all_at_once)
{
    dls_problems problems = {0};
    dls_config *config = NULL;
    const char *text = "cluster: { nodes = ({ count = -1; gpus = 99; gpu_type = \"?\"; colour = 1; "
                       "}); };\nrun: { seed = 9000000000; audit = 3; };\n"
                       "scheduler: { name = \"x\"; };\nplacement: { name = \"y\"; };\n";
    assert_int_equal(load_with(text, NULL, 0, &problems, &config), DLS_ECONFIG);
    /* version, count, gpus, type, colour, seed, audit, scheduler, placement */
    assert_int_equal(problems.n, 9);
    assert_int_equal(problems.kept, 9);
    dls_problems_fini(&problems);

    /* Thousands of problems are counted and the first hundred kept. */
    char *many = malloc(200000);
    assert_non_null(many);
    size_t len = (size_t)sprintf(many, "%s", HEAD NODES);
    for (int i = 0; i < 3000; i++) {
        len += (size_t)sprintf(many + len, "nonsense%d = 1;\n", i);
    }
    assert_int_equal(load_with(many, NULL, 0, &problems, &config), DLS_ECONFIG);
    assert_int_equal(problems.n, 3000);
    assert_int_equal(problems.kept, DLS_PROBLEMS_KEPT);
    dls_problems_fini(&problems);
    free(many);
}

/* Includes and paths are relative to the configuration's folder, wherever dlsim is run. */
TEST(files)
{
    char path[128], cluster[128], loop[128];
    assert_int_equal(make_folder(NULL), 0);
    snprintf(path, sizeof path, "%s/main.cfg", folder);
    snprintf(cluster, sizeof cluster, "%s/cluster.cfg", folder);
    snprintf(loop, sizeof loop, "%s/loop.cfg", folder);
    write_file(path, "\xef\xbb\xbf" HEAD "@include \"cluster.cfg\"\ntrace: { path = \"jobs.csv\"; };\n");
    write_file(cluster, NODES);
    write_file(loop, "@include \"loop.cfg\"\n");

    dls_problems problems = {0};
    dls_config *config = NULL;
    dls_error err = {0};
    dls_config_request request = {.path = path, .registry = registry};
    assert_int_equal(dls_config_load(&request, &problems, &config, &err), DLS_OK);
    char expected[160];
    snprintf(expected, sizeof expected, "%s/jobs.csv", folder);
    assert_string_equal(config->trace_path, expected);
    dls_config_destroy(config);

    const dls_override here[] = {{"trace.path", "jobs-{seed}.csv", "--trace"},
                                 {"run.seed", "4", "--seed"}};
    request.overrides = here;
    request.n_overrides = 2;
    assert_int_equal(dls_config_load(&request, &problems, &config, &err), DLS_OK);
    assert_string_equal(config->trace_path, "jobs-4.csv");
    dls_config_destroy(config);

    /* A mistake in an included file is reported there. */
    write_file(cluster, "\n\nfoo = 1;\n" NODES);
    assert_int_equal(dls_config_load(&request, &problems, &config, &err), DLS_ECONFIG);
    assert_int_equal(problems.n, 1);
    if (!strstr(problems.text[0], "/cluster.cfg:3: unknown key 'foo'")) {
        fail_msg("%s", problems.text[0]);
    }
    dls_problems_fini(&problems);

    write_file(cluster, "\xef\xbb\xbf" NODES);
    assert_int_equal(dls_config_load(&request, &problems, &config, &err), DLS_ECONFIG);
    assert_non_null(strstr(problems.text[0], "begins with a byte order mark"));
    dls_problems_fini(&problems);

    request.path = loop;
    assert_int_equal(dls_config_load(&request, &problems, &config, &err), DLS_ECONFIG);
    assert_non_null(strstr(problems.text[0], "include each other"));
    dls_problems_fini(&problems);

    request.path = folder;
    MUST_FAIL(DLS_ECONFIG, "directory", dls_config_load(&request, &problems, &config, &e));
    request.path = "/nowhere/at/all.cfg";
    MUST_FAIL(DLS_ECONFIG, "cannot be opened", dls_config_load(&request, &problems, &config, &e));
    assert_int_equal(problems.n, 0);

    FILE *nul = fopen(loop, "wb");
    assert_non_null(nul);
    fwrite("a = 1;\0b = 2;", 1, 13, nul);
    fclose(nul);
    request.path = loop;
    assert_int_equal(dls_config_load(&request, &problems, &config, &err), DLS_ECONFIG);
    assert_non_null(strstr(problems.text[0], "NUL"));
    dls_problems_fini(&problems);
    unlink(path);
    unlink(cluster);
    unlink(loop);
    rmdir(folder);
}

/* --defaults can be loaded, and every key of it is at its default. */
TEST(documentation)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    assert_int_equal(dls_config_print_defaults(out, registry, NULL), DLS_OK);
    assert_int_equal(fclose(out), 0);
    dls_config *c = good(text);
    dls_config *bare = good(HEAD "cluster: { nodes = ({ count = 32; gpus = 8; "
                                 "gpu_type = \"V100\"; }); };\n");
    assert_string_equal(c->text, bare->text);
    dls_config_destroy(c);
    dls_config_destroy(bare);
    free(text);

    out = open_memstream(&text, &len);
    assert_non_null(out);
    assert_int_equal(dls_config_explain(out, registry, "cluster.nodes[7].count", NULL), DLS_OK);
    assert_int_equal(dls_config_explain(out, registry, "placement", NULL), DLS_OK);
    dls_error err = {0};
    MUST_FAIL(DLS_EUSAGE, "run.seed", dls_config_explain(out, registry, "run.sed", &e));
    assert_int_equal(dls_config_explain(out, registry, "cluster.nodes[", &err), DLS_EUSAGE);
    assert_int_equal(dls_config_explain(out, registry, "", &err), DLS_EUSAGE);
    assert_int_equal(fclose(out), 0);
    free(text);
}

/* ---- failed allocations ---------------------------------------------------------------------- */

/* Nothing is left of it, and what failed left nothing. */
static dls_status load_and_drop(const char *text, const dls_override *set, size_t n)
{
    dls_problems problems = {0};
    dls_config *config = NULL;
    const dls_status status = load_with(text, set, n, &problems, &config);
    assert_int_equal(status == DLS_OK, config != NULL);
    dls_config_destroy(config);
    dls_problems_fini(&problems);
    return status;
}

TEST(out_of_memory)
{
    const char *text = HEAD
        "cluster: { gpu_types = ({ name = \"X\"; }); nodes = ({ count = 4; gpus = 8; gpu_type = "
        "\"X\"; }); virtual_clusters = ({ name = \"v\"; gpus = 3; }); };\n"
        "scheduler: { name = \"dlas-gpu\"; queue_limits = [5]; };\nrun: { seed = 4; };\n";
    const dls_override set = {NULL, "placement.name=count", "--set"};
    EACH_REFUSED(30, load_and_drop(text, &set, 1));

    /* A list of problems that cannot grow is no silent success. */
    dls_status status = DLS_ENOMEM;
    for (int n = 0; status == DLS_ENOMEM; n++) {
        REFUSED(status, n, load_and_drop(HEAD "foo = 1;\nbar = 9000000000;\n", NULL, 0));
        assert_true(status == DLS_ENOMEM || status == DLS_ECONFIG);
    }
}

TEST(registry_out_of_memory)
{
    DLS_HOLD(dls_registry_destroy) dls_registry *reg = NULL;
    EACH_REFUSED(5, dls_registry_create(&reg, NULL));
}

GROUP(setup, teardown)
