/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A configuration's list of files against the files that a run of it opens: this program has its
 * own fopen, open and dlopen, which note what is read, so an input that a reader opens and the list
 * does not have is found, whoever adds it.
 */

#include "config/prepare.h"
#include "support/scratch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is opened -------------------------------------------------------------------------- */

enum { OPENED_MAX = 256 };
static char opened[OPENED_MAX][PATH_MAX];
static size_t n_opened;
static bool watching;

static void note(const char *path)
{
    static const char *const of_the_system[] = {"/proc/", "/sys/",    "/dev/",
                                                "/etc/",  "/usr/lib", "/lib"};
    char whole[PATH_MAX];
    if (!watching || !path || !realpath(path, whole)) {
        return;
    }
    for (size_t i = 0; i < sizeof of_the_system / sizeof of_the_system[0]; i++) {
        if (strncmp(whole, of_the_system[i], strlen(of_the_system[i])) == 0) {
            return;
        }
    }
    assert_true(n_opened < OPENED_MAX);
    strcpy(opened[n_opened++], whole);
}

/* The C library's function of that name. */
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Also what the libraries call. */
#define SEEN __attribute__((visibility("default")))
SEEN FILE *fopen(const char *path, const char *mode);
SEEN FILE *fopen64(const char *path, const char *mode);
SEEN int open(const char *path, int how, ...);
SEEN int open64(const char *path, int how, ...);
SEEN void *dlopen(const char *path, int how);

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    *(void **)&real = next("fopen");
    note(*mode == 'r' ? path : NULL);
    return real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

static int pass_open(const char *path, int how, va_list rest)
{
    int (*real)(const char *, int, mode_t);
    *(void **)&real = next("open");
    note((how & O_ACCMODE) == O_RDONLY && !(how & O_DIRECTORY) ? path : NULL);
    return real(path, how, how & O_CREAT ? va_arg(rest, mode_t) : 0);
}

int open(const char *path, int how, ...)
{
    va_list rest;
    va_start(rest, how);
    const int fd = pass_open(path, how, rest);
    va_end(rest);
    return fd;
}

int open64(const char *path, int how, ...)
{
    va_list rest;
    va_start(rest, how);
    const int fd = pass_open(path, how, rest);
    va_end(rest);
    return fd;
}

void *dlopen(const char *path, int how)
{
    void *(*real)(const char *, int);
    *(void **)&real = next("dlopen");
    note(path);
    return real(path, how);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int setup(void **state)
{
    char sub[PATH_MAX];
    if (make_folder(state) != 0) {
        return -1;
    }
    snprintf(sub, sizeof sub, "%s/table", folder);
    mkdir(sub, 0777);
    snprintf(sub, sizeof sub, "%s/table/throughputs_V100", folder);
    mkdir(sub, 0777);
    put("table/throughputs_V100/resnet50.csv",
        "global_batch_size,1,2,4\n32,10,18,30\n64,11,20,36\n");
    put("samples", "100\n2000\n30000\n");
    put("failures.csv", "time_s,node,event\n50,0,fail\n500,0,repair\n");
    put("models", "1 resnet50 32 1\n");
    put("jobs.csv", "job_id,num_gpu,submit_time,duration,model,batch_size\n"
                    "a,1,0,100,resnet50,32\nb,2,5,200,resnet50,64\nc,4,9,300,,\n");
    return 0;
}

static bool in_list(const dls_config *config, const char *path)
{
    for (size_t i = 0; i < config->n_files; i++) {
        char whole[PATH_MAX];
        if (realpath(config->file[i].path, whole)) {
            const size_t len = strlen(whole);
            if (strncmp(path, whole, len) == 0 && (path[len] == '\0' || path[len] == '/')) {
                return true;
            }
        }
    }
    return false;
}

/* Run the configuration with these keys; what it opens is in its list. Of that, `want` must be. */
static void check(const char *keys, const char *want)
{
    char path[PATH_MAX], text[4096];
    DLS_HOLD(dls_registry_destroy) dls_registry *registry = NULL;
    DLS_HOLD(dls_config_destroy) dls_config *config = NULL;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_OWN(dls_prepared_fini) dls_prepared prepared = {0};
    DLS_HOLD(dls_record_destroy) dls_record *record = NULL;
    dls_run_facts facts;
    dls_problems problems = {0};
    dls_error err = {0};
    snprintf(text, sizeof text,
             "schema_version = 1;\n"
             "cluster: { nodes = ({ count = 2; gpus = 4; gpu_type = \"V100\"; }); };\n"
             "trace: { path = \"jobs.csv\"; assign = \"models\";%s };\n%s",
             strncmp(keys, "trace", 5) == 0 ? strchr(keys, ' ') : "",
             strncmp(keys, "trace", 5) == 0 ? "" : keys);
    put("run.cfg", text);
    snprintf(path, sizeof path, "%s/run.cfg", folder);
    assert_int_equal(dls_registry_create(&registry, NULL), DLS_OK);
    const dls_config_request request = {.path = path, .registry = registry};
    if (dls_config_load(&request, &problems, &config, &err) != DLS_OK) {
        fail_msg("%s: %s", keys, problems.n ? problems.text[0] : err.msg);
    }
    n_opened = 0;
    watching = true;
    dls_status status = dls_config_make_trace(config, NULL, NULL, 0, &trace, &err);
    assert_int_equal(status, DLS_OK);
    status = dls_prepare(config, trace, &prepared, &err);
    if (status == DLS_OK) {
        status = dls_sim_run(&prepared.params, &record, &err);
    }
    if (status == DLS_OK) {
        status = dls_prepared_finish(&prepared, &facts, NULL, &err);
    }
    watching = false;
    if (status != DLS_OK) {
        fail_msg("%s: %s: %s", keys, err.where, err.msg);
    }
    bool found = false;
    for (size_t i = 0; i < n_opened; i++) {
        /* One that is gone was a part of the cache, synced before it got its name. */
        if (access(opened[i], F_OK) == 0 && !in_list(config, opened[i])) {
            fail_msg("a run reads %s, which is not among the files of its configuration: %s",
                     opened[i], keys);
        }
        const size_t len = strlen(opened[i]), tail = strlen(want);
        found = found || (len >= tail && strcmp(opened[i] + len - tail, want) == 0);
    }
    if (!found) {
        fail_msg("no run of %s was seen to read %s", keys, want);
    }
}

/* A graph of one product that trains. */
static void save_net(void)
{
    put("net.pbtxt",
        "node { name: \"x\" op: \"Placeholder\" attr { key: \"shape\" value { shape {"
        " dim { size: -1 } dim { size: 64 } } } } attr { key: \"dtype\" value { type: DT_FLOAT } } }\n"
        "node { name: \"w\" op: \"Const\" attr { key: \"dtype\" value { type: DT_FLOAT } }"
        " attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape {"
        " dim { size: 64 } dim { size: 8 } } } } } }\n"
        "node { name: \"y\" op: \"MatMul\" input: \"x\" input: \"w\""
        " attr { key: \"T\" value { type: DT_FLOAT } } }\n");
}

TEST(files)
{
    char keys[512];
    check("", "/jobs.csv");
    check("", "/models");
    save_net();
    snprintf(keys, sizeof keys, "trace stand_ins = \"mine=%s/net.pbtxt\";", folder);
    check(keys, "/net.pbtxt");
    check("scheduler: { name = \"gittins\"; samples = \"samples\"; };", "/samples");
    check("failures: { trace = \"failures.csv\"; };", "/failures.csv");
    check("perf: { model = \"table\"; table = \"table\"; };", "/throughputs_V100/resnet50.csv");
}

TEST(usual_tables)
{
    check("perf: { model = \"operator\"; };", "/configs/hardware/gpus.cfg");
    check("predictor: { source = \"operator\"; };\n"
          "scheduler: { name = \"easy\"; estimates = \"predictor\"; };",
          "/configs/hardware/operator-sized.cfg");
    check("predictor: { source = \"operator\"; };\n"
          "scheduler: { name = \"easy\"; estimates = \"predictor\"; };",
          "/configs/hardware/kernels.cfg");
    check("predictor: { source = \"operator\"; sized = false; };\n"
          "scheduler: { name = \"easy\"; estimates = \"predictor\"; };",
          "/configs/hardware/operator.cfg");
    check("predictor: { source = \"paleo\"; };\nplacement: { name = \"driple\"; };",
          "/configs/hardware/gpus.cfg");
    check("predictor: { source = \"habitat\"; };\nplacement: { name = \"driple\"; };",
          "/configs/hardware/gpus.cfg");
}

TEST(inspectors)
{
    static const char scheduler[] = "scheduler: { name = \"easy\"; estimates = \"predictor\"; };";
    char keys[512];
    snprintf(keys, sizeof keys,
             "%s predictor: { source = \"driple\"; backend = \"cpu\"; cache = \"answers\"; };",
             scheduler);
    check(keys, "/inspectors/relative.h5");
    check(keys, "/answers"); /* they are kept now */
    snprintf(keys, sizeof keys,
             "%s predictor: { source = \"operator\"; predictions = \"record:said\"; };", scheduler);
    check(keys, "/jobs.csv");
    snprintf(keys, sizeof keys,
             "%s predictor: { source = \"operator\"; predictions = \"replay:said\"; };", scheduler);
    check(keys, "/said");
}

GROUP(setup, drop_folder)
