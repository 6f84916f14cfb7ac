/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Texts for a POSIX shell.
 */
#ifndef DLS_BASE_SHELL_H
#define DLS_BASE_SHELL_H

#include <stdio.h>

/* s as one word: as it is, or in single quotes if it has anything that a shell may take for more.
 */
void dls_shell_word(FILE *out, const char *s);

#endif
