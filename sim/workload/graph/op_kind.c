/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of known operations, TensorFlow's name and family of each, and lookup by name.
 */
#include "workload/graph/op_kind.h"

static const char *const family_names[] = {
#define XX(id, text) text,
    DLS_OP_FAMILY_MAP(XX)
#undef XX
};

static const struct {
    const char *name;
    dls_op_family family;
} kinds[] = {
#define XX(id, text, family, rule) {text, DLS_FAMILY_##family},
    DLS_OP_KIND_MAP(XX)
#undef XX
};

const char *dls_op_name(int kind)
{
    return kinds[kind >= 0 && kind < DLS_OP_COUNT ? kind : DLS_OP_OTHER].name;
}

dls_op_family dls_op_family_of(int kind)
{
    return kinds[kind >= 0 && kind < DLS_OP_COUNT ? kind : DLS_OP_OTHER].family;
}

const char *dls_op_family_name(int family)
{
    return family_names[family >= 0 && family < DLS_FAMILY_COUNT ? family : DLS_FAMILY_OTHER];
}
