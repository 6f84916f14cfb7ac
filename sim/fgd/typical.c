/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Typical pods of a file.
 */
#include "base/alloc.h"
#include "fgd/fgd.h"

dls_status dls_fgd_find_typical(const dls_fgd_input *in, dls_fgd_typical **out, size_t *n,
                                dls_error *err)
{
    dls_fgd_counted *all = dls_alloc_zero(in->n_kinds + 1, sizeof *all);
    *out = dls_alloc((in->n_kinds + 1) * sizeof **out);
    *n = 0;
    if (!all || !*out) {
        DLS_FREE_ALL(all, *out);
        *out = NULL;
        return dls_nomem(err, "typical pods", in->n_kinds * sizeof **out);
    }
    for (size_t i = 0; i < in->n_kinds; i++) {
        all[i].request = in->kind[i];
        all[i].spec = dls_strdict_get(&in->specs, in->kind[i].spec);
    }
    for (size_t i = 0; i < in->n_pods; i++) {
        all[in->pod_kind[i]].pods++;
    }
    *n = dls_fgd_pick_typical(all, in->n_kinds, *out);
    dls_free(all);
    return DLS_OK;
}
