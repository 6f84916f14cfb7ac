/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program outside the tree: reads a trace through the installed library.
 */
#include <dlsim/trace.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    dls_trace *trace = NULL;
    dls_error err;
    if (argc != 2 || dls_trace_load(argv[1], NULL, NULL, &trace, &err) != DLS_OK) {
        return 1;
    }
    printf("%zu jobs\n", dls_trace_cols(trace)->n);
    dls_trace_destroy(trace);
    return 0;
}
