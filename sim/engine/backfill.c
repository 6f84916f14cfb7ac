/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * EASY backfilling: when the first waiting job can start at the latest, and which job behind it may
 * start now without delaying that.
 */
#include "base/assert.h"
#include "engine/select_impl.h"

int64_t dls_select_shadow(dls_select *s, int32_t head, int64_t now_us, uint32_t *types,
                          int64_t *spare)
{
    DLS_DEBUG_ASSERT(s->backfills);
    const dls_class *c = &s->cls[s->job[head].cls];
    const dls_pool *p = &s->pool[c->pool];
    int64_t best = DLS_NEVER;
    uint32_t ever = 0;
    *types = 0;
    *spare = 0;
    for (uint32_t left = c->types; left; left &= left - 1) {
        const int32_t t = __builtin_ctz(left);
        ever |= (uint32_t)(p->cap[t] >= c->weight) << t;
    }
    const bool refused = dls_select_fits_free(p, c, ever) != 0;
    for (uint32_t left = ever; left; left &= left - 1) {
        const int32_t t = __builtin_ctz(left);
        const int64_t lacking = refused ? 0 : c->weight - (p->cap[t] - p->used[t]);
        const int32_t last = dls_order_first_over(&s->order, p->running[t].set, lacking > 0 ? lacking - 1 : 0);
        if (last == DLS_NONE) {
            continue;
        }
        const dls_rank rank = s->order.member[last].rank;
        const int64_t when = rank.key > now_us ? rank.key : now_us;
        if (when < best) {
            /* Everything that ends at that very instant, or is late, is spare too. */
            const dls_rank past = {.level = rank.level, .key = when + 1, .tie = INT64_MIN};
            best = when;
            *types = UINT32_C(1) << t;
            *spare = dls_order_sum_before(&s->order, p->running[t].set, &past) - lacking;
        }
    }
    if (refused) { /* by number there is room: which GPUs it waits for is not known, so none are spare */
        *types = ever;
        *spare = 0;
    }
    return best;
}

int32_t dls_select_backfill(dls_select *s, int32_t head, int64_t now_us, int64_t shadow_us,
                            uint32_t head_types, int64_t spare, int32_t *type, bool *uses_spare)
{
    const int32_t pool = s->cls[s->job[head].cls].pool;
    const dls_pool *p = &s->pool[pool];
    const int64_t left = shadow_us == DLS_NEVER ? DLS_NEVER : shadow_us - now_us;
    int64_t most = 0;
    for (int32_t t = 0; t < s->n_types; t++) {
        const int64_t free = p->cap[t] - p->used[t];
        most = free > most ? free : most;
    }
    for (;;) {
        int32_t best = DLS_NONE;
        uint32_t best_types = 0;
        for (int32_t k = 0; k < p->n_classes && s->cls[p->first_class + k].weight <= most; k++) {
            const dls_class *c = &s->cls[p->first_class + k];
            const uint32_t open = c->head != DLS_NONE ? dls_select_open(s, c, c->head) : 0;
            if (!open) {
                continue;
            }
            s->heads_examined++;
            /* Any type but the head's is free to take; there it must end in time or use what is
             * spare. */
            const uint32_t fits = dls_select_fits_free(p, c, open);
            uint32_t types = fits & ~head_types;
            int32_t found = DLS_NONE;
            bool spends = false;
            if (types || (fits & head_types && c->weight <= spare && c->late_pass != s->pass)) {
                found = c->head != head ? c->head : dls_select_next_waiting(s, &s->cls[p->first_class + k], head);
                spends = !types && found != DLS_NONE && s->order.aux[found] > left;
                types = types ? types : fits & head_types;
            } else if (fits & head_types) {
                found = dls_order_first_aux(&s->order, c->waiting.set, DLS_NONE, left);
                if (found == head) {
                    found = dls_order_first_aux(&s->order, c->waiting.set, head, left);
                }
                types = fits & head_types;
            }
            if (found != DLS_NONE &&
                (best == DLS_NONE ||
                 dls_rank_cmp(&s->order.member[found].rank, &s->order.member[best].rank) < 0)) {
                best = found;
                best_types = types;
                *uses_spare = spends;
            }
        }
        *type = best_types ? dls_select_choose(s, best, best_types, -1, now_us) : -1;
        if (best == DLS_NONE || *type >= 0) {
            return best;
        }
    }
}
