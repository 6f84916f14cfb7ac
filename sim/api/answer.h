/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers of the library that are texts: written to a stream in memory, kept by what was asked,
 * lent until the next.
 */
#ifndef DLS_API_ANSWER_H
#define DLS_API_ANSWER_H

#include "base/alloc.h"
#include "dlsim/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct dls_answer {
    FILE *to;
    char **kept; /* the C library's own */
    size_t n;
} dls_answer;

/* kept: where the last answer is, which goes. dls_answer_end must follow. */
static inline dls_status dls_answer_begin(dls_answer *a, char **kept, dls_error *err)
{
    free(*kept);
    *kept = NULL;
    *a = (dls_answer){.kept = kept};
    a->to = open_memstream(kept, &a->n);
    return a->to ? DLS_OK : dls_nomem(err, "text", 0);
}

/* status: of what was written, and then of the call. */
static inline dls_status dls_answer_end(dls_answer *a, dls_status status, const char **text,
                                        dls_error *err)
{
    const bool whole = !ferror(a->to);
    if (fclose(a->to) != 0 || (!whole && status == DLS_OK)) {
        status = dls_nomem(err, "text", a->n);
    }
    *text = *a->kept;
    return status;
}

#endif
