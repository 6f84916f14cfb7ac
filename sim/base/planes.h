/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deflating shuffled cells: each plane of bytes with a code of its own (RFC 1950, RFC 1951). The planes of numbers
 * differ in what they hold more than they repeat themselves, so nothing but runs of a byte is looked for.
 */
#ifndef DLS_BASE_PLANES_H
#define DLS_BASE_PLANES_H

#include <stddef.h>

enum { DLS_PLANE_MOST = 1 << 14 }; /* bytes of a plane */

/* A zlib stream of `planes` x n bytes into out[room]; its length, or 0 if it does not fit. */
size_t dls_planes_deflate(const unsigned char *bytes, size_t planes, size_t n, unsigned char *out, size_t room);

#endif
