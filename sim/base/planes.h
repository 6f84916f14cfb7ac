/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deflates short columns of numbers: of the cells' first bytes, second bytes, .. each plane gets a code of
 * its own, and only repeated bytes are taken together. Half of the time of a search for matches, which makes
 * about as much of short columns and less of long ordered ones (docs/results.md).
 */
#ifndef DLS_BASE_PLANES_H
#define DLS_BASE_PLANES_H

#include <stddef.h>

enum { DLS_PLANE_BYTES = 1 << 14 }; /* a plane has at most */

/* planes: `width` planes of `rows` bytes, one after the other, as a zlib stream in out [room]. Returns the
 * bytes of the stream; 0 if there is no room for it. out may have been written to then. */
size_t dls_planes_deflate(const unsigned char *planes, size_t rows, size_t width, unsigned char *out,
                          size_t room);

#endif
