/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Threads that take numbered items until none is left. Nothing may depend on who takes which.
 */
#ifndef DLS_BASE_TEAM_H
#define DLS_BASE_TEAM_H

#include <stddef.h>
#include <stdint.h>

#define DLS_TEAM_MAX 256

/* Cores this process may use, at least 1. */
int32_t dls_team_cores(void);

/* seat < threads tells threads apart, for memory of their own. */
typedef void (*dls_team_fn)(void *user, int32_t seat, size_t item);

/* fn for every item below n, on up to `threads` (at most DLS_TEAM_MAX) threads of which the caller
 * is one. A thread that cannot be started costs time and nothing else. */
void dls_team_run(int32_t threads, size_t n, dls_team_fn fn, void *user);

#endif
