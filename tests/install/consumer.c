/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program outside the tree, with nothing but the installed headers and library: it runs a trace under
 * a scheduler, and says what came of it.
 */
#include <dlsim/run.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    dls_setup *setup = NULL;
    dls_trace *trace = NULL;
    dls_simulation *sim = NULL;
    dls_error err = {DLS_OK, "", ""};
    if (argc != 4 || dls_setup_create(&setup, &err) != DLS_OK ||
        dls_setup_file(setup, argv[1], &err) != DLS_OK ||
        dls_setup_set(setup, "trace.path", argv[2], &err) != DLS_OK ||
        dls_setup_set(setup, "scheduler.name", argv[3], &err) != DLS_OK ||
        dls_setup_trace(setup, &trace, &err) != DLS_OK ||
        dls_simulation_create(setup, trace, &sim, &err) != DLS_OK ||
        dls_simulation_run(sim, &err) != DLS_OK ||
        dls_simulation_write(sim, "consumer.h5", "consumer", &err) != DLS_OK) {
        fprintf(stderr, "%s: %s: %s\n", dls_status_name(err.status), err.where, err.msg);
        return 1;
    }
    printf("%016llx\n", (unsigned long long)dls_simulation_digest(sim));
    dls_simulation_destroy(sim);
    dls_trace_destroy(trace);
    dls_setup_destroy(setup);
    return 0;
}
