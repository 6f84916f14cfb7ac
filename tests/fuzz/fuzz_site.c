/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as a site's own records. The first says of what kind, the texts behind it are the
 * files, with a NUL between them: of Slurm the accounting, the nodes and the others in the order of
 * dls_site_slurm; of DCGM the series and the accounting. An error, or a site that can be loaded and
 * begun.
 */
#include "base/file.h"
#include "dlsim/site.h"
#include "memory_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLURM, KUBERNETES, DCGM, KINDS };

static char folder[32], cluster[48];

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

/* The texts as files, as many as there are; of others NULL. */
static void put_files(const char *text, size_t size, const char *file[MEMORY_FILES])
{
    for (int i = 0; i < MEMORY_FILES; i++) {
        const size_t n = strnlen(text, size);
        memory_file_put(i, text, n);
        file[i] = n > 0 ? memory_file_path[i] : NULL;
        text += n < size ? n + 1 : n;
        size -= n < size ? n + 1 : n;
    }
}

/* What the last import wrote. */
static void remove_folder(void)
{
    struct dirent **names;
    int n;
    if (dls_file_names(folder, &names, &n, NULL) == DLS_OK) {
        for (int i = 0; i < n; i++) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
            unlink(path);
        }
        dls_file_free_names(names, n);
        rmdir(folder);
    }
}

/* What was written can be read. */
static void use_site(void)
{
    dls_setup *setup = NULL;
    dls_trace *trace = NULL;
    dls_simulation *sim = NULL;
    dls_error err = {0};
    must(dls_setup_create(&setup, NULL) == DLS_OK &&
         dls_setup_file(setup, cluster, NULL) == DLS_OK);
    if (dls_setup_trace(setup, &trace, &err) != DLS_OK ||
        dls_simulation_create(setup, trace, &sim, &err) != DLS_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
        for (size_t i = 0; dls_setup_problem(setup, i); i++) {
            fprintf(stderr, "%s\n", dls_setup_problem(setup, i));
        }
        abort();
    }
    dls_simulation_destroy(sim);
    dls_trace_destroy(trace);
    dls_setup_destroy(setup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *report;
    const char *file[MEMORY_FILES];
    dls_error err = {0};
    dls_status status;
    if (!report) {
        report = fopen("/dev/null", "w");
        must(report != NULL);
        snprintf(folder, sizeof folder, "fuzz_site.%d", (int)getpid());
        snprintf(cluster, sizeof cluster, "%s/cluster.cfg", folder);
        must(atexit(remove_folder) == 0);
    }
    if (size < 1) {
        return 0;
    }
    const int kind = data[0] % KINDS;
    put_files((const char *)data + 1, size - 1, file);
    if (!file[0] || (kind == SLURM && !file[1])) {
        return 0;
    }
    if (kind == SLURM) {
        const dls_site_slurm site = {.sacct = file[0],
                                     .nodes = file[1],
                                     .conf = file[2],
                                     .partitions = file[3],
                                     .qos = file[4],
                                     .events = file[5],
                                     .reservations = file[6],
                                     .shares = file[7],
                                     .log = file[8],
                                     .topology = file[9],
                                     .gres = file[10],
                                     .folder = folder};
        status = dls_site_import_slurm(&site, report, &err);
    } else if (kind == KUBERNETES) {
        status = dls_site_import_kubernetes(file[0], folder, report, &err);
    } else {
        const dls_site_dcgm site = {.metrics = file[0], .sacct = file[1], .folder = folder};
        status = dls_site_import_dcgm(&site, report, &err);
    }
    must(status == DLS_OK || err.msg[0]);
    if (status == DLS_OK && kind != DCGM) {
        use_site();
    }
    return 0;
}
