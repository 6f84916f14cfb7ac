/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names out of files, fit for a terminal: a control character would move its cursor or worse.
 */
#ifndef DLS_BASE_PRINTABLE_H
#define DLS_BASE_PRINTABLE_H

#include <stdio.h>

/* Enough for any name that is shown in a line; longer ones are cut. */
#define DLS_PRINTABLE_BYTES 1024

/* The text with control characters (below space, DEL, and those from U+0080 to U+009F) as \xHH, cut
 * to fit. Returns text itself if it has none, else buf. */
const char *dls_printable(const char *text, char buf[DLS_PRINTABLE_BYTES]);

/* The width of a column, when it has this text, too: at most 60 places, when width is less. */
int dls_printable_width(const char *text, int width);
/* The text in a column of this width, as dls_printable; a character of UTF-8 takes a place. */
void dls_printable_cell(FILE *out, const char *text, int width);

#endif
