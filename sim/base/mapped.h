/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Arrays that lie in files without a name and are used as memory: the system keeps in memory what
 * is touched, and the rest is on the disk. What was added last is memory. A process that ends in whatever way leaves nothing
 * behind. Two processes must not go on with one array: what a child of fork writes, its parent
 * sees.
 */
#ifndef DLS_BASE_MAPPED_H
#define DLS_BASE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dls_mapped {
    int fd; /* -1: none */
    void *at;
    size_t bytes;
    size_t settled; /* of them in the file; those behind are memory of this process */
} dls_mapped;

/* An empty one on the disk of the file `beside`. False: it cannot be made there. */
bool dls_mapped_open(dls_mapped *m, const char *beside);
/* So many bytes, more than before and a multiple of a page; m->at moves, those that were there go to the disk, new
 * ones hold whatever. On failure nothing has changed. */
bool dls_mapped_grow(dls_mapped *m, size_t bytes);
/* What is in the file leaves the process's memory until it is touched again. Any thread. */
void dls_mapped_rest(const dls_mapped *m);
void dls_mapped_close(dls_mapped *m);

#endif
