/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names out of files, fit for a terminal: a control character would move its cursor or worse.
 */
#ifndef DLS_BASE_PRINTABLE_H
#define DLS_BASE_PRINTABLE_H

/* Enough for any name that is shown in a line; longer ones are cut. */
#define DLS_PRINTABLE_BYTES 1024

/* The text with control characters (below space, DEL, and those from U+0080 to U+009F) as \xHH, cut
 * to fit. Returns text itself if it has none, else buf. */
const char *dls_printable(const char *text, char buf[DLS_PRINTABLE_BYTES]);

#endif
