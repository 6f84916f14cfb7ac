/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What reading and writing of dataset files share: running checksums of texts, and the arrays in
 * which many small graphs are stored end to end.
 */
#include "predictor/dataset/dataset_h5.h"

#include "base/alloc.h"

#include <string.h>

void dls_set_hash_text(dls_set_channel *c, const char *text)
{
    dls_sha256_update(&c->sha, text, strlen(text) + 1);
}

void dls_set_pack_fini(dls_set_pack *p)
{
    DLS_FREE_ALL(p->batch, p->n_nodes, p->degree, p->col, p->x, p->weight);
}

dls_status dls_set_pack_alloc(dls_set_pack *p, dls_error *err)
{
    p->batch = dls_alloc_zero(p->graphs + 1, sizeof *p->batch);
    p->n_nodes = dls_alloc_zero(p->graphs + 1, sizeof *p->n_nodes);
    p->degree = dls_alloc_zero(p->nodes + 1, sizeof *p->degree);
    p->col = dls_alloc_zero(p->edges + 1, sizeof *p->col);
    p->x = dls_alloc_zero(p->nodes * p->features + 1, sizeof *p->x);
    p->weight = p->weighted ? dls_alloc_zero(p->edges + 1, sizeof *p->weight) : NULL;
    if (!p->batch || !p->n_nodes || !p->degree || !p->col || !p->x || (p->weighted && !p->weight)) {
        return dls_nomem(err, "graphs", p->nodes * p->features * sizeof *p->x);
    }
    return DLS_OK;
}
