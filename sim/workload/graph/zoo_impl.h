/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the zoo: models that came out of files (zoo_file.c).
 */
#ifndef DLS_GRAPH_ZOO_IMPL_H
#define DLS_GRAPH_ZOO_IMPL_H

#include "workload/graph/zoo.h"

/* false: the model is none of a file. Else *status is what became of it. */
bool dls_zoo_build_file(const dls_zoo_model *model, const dls_zoo_options *options,
                        dls_opgraph **out, dls_status *status, dls_error *err);

#endif
