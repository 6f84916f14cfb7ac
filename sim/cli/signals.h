/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ctrl-C, the end of a terminal, and a batch system's or systemd's request to end: noted once, so
 * that a run can end in good order. Nothing else of the program asks for signals but `dlsim perf
 * record`, which passes them on.
 */
#ifndef DLS_CLI_SIGNALS_H
#define DLS_CLI_SIGNALS_H

#include <stdbool.h>

/* From here to dls_signals_release the first SIGINT, SIGTERM or SIGHUP is noted; after it they do
 * again what they did before, so a second one ends the program. A SIGHUP that is ignored, as under
 * nohup, stays ignored. */
void dls_signals_catch(void);
void dls_signals_release(void);

/* One was noted since the program began. */
bool dls_signals_noted(void);
/* The same as a callback. */
bool dls_signals_interrupted(void *user);

#endif
