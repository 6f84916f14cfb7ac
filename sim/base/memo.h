/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results of pure functions, kept as bytes by the bytes of what they follow from. Nothing that
 * depends on more than its key may lie here, so who asks cannot be told anything but what it would
 * find out itself, only later.
 *
 * A memo is lent to threads and inherited by children of fork, and what one of them keeps, all of
 * them find: it lies at the same place in each. Entries stay as they are until the end, and their
 * pages can be written only while one is added, so a wild store reaches none. Nobody waits: while
 * somebody adds an entry others keep theirs for themselves, for good if that one dies meanwhile;
 * and so they do when it is full.
 */
#ifndef DLS_BASE_MEMO_H
#define DLS_BASE_MEMO_H

#include "base/own.h"

#include <stddef.h>
#include <sys/uio.h>

typedef struct dls_memo dls_memo;

/* NULL: the system has no memory for it; all else takes that for one which keeps nothing. */
dls_memo *dls_memo_create(void);
void dls_memo_destroy(dls_memo *m); /* by the process that made it, or by none */
DLS_OWNER(dls_memo, dls_memo_destroy)

/* What is kept by a key, aligned as a double, for the memo's life; NULL: nothing. O(entries). */
const void *dls_memo_find(const dls_memo *m, const void *key, size_t n_key);
/* The parts one after the other, unless there is something by that key. */
void dls_memo_keep(dls_memo *m, const void *key, size_t n_key, const struct iovec *part,
                   size_t n_parts);

#endif
