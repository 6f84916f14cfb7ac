/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Catches SIGINT, SIGTERM and SIGHUP with handlers that set a flag; a second signal ends the
 * program as usual.
 */
#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>

enum { N_SIGNALS = 3 };
static const int numbers[N_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[N_SIGNALS];
static volatile sig_atomic_t noted;

void dls_signals_release(void)
{
    for (int i = 0; i < N_SIGNALS; i++) {
        sigaction(numbers[i], &before[i], NULL);
    }
}

static void note(int number)
{
    noted = 1;
    dls_signals_release();
}

void dls_signals_catch(void)
{
    struct sigaction action = {.sa_handler = note};
    sigfillset(&action.sa_mask);
    for (int i = 0; i < N_SIGNALS; i++) {
        sigaction(numbers[i], NULL, &before[i]);
    }
    for (int i = 0; i < N_SIGNALS; i++) {
        if (numbers[i] != SIGHUP || before[i].sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

bool dls_signals_noted(void)
{
    return noted != 0;
}

bool dls_signals_interrupted(void *user)
{
    return dls_signals_noted();
}
