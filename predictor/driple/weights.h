/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inspectors as files (layout: docs/inspector-files.md), and the import of plain files of named
 * tensors. dls_inspector_load is in dlsim/predictor.h.
 */
#ifndef DLS_DRIPLE_WEIGHTS_H
#define DLS_DRIPLE_WEIGHTS_H

#include "predictor/driple/model.h"

/* path is written whole or left as it is (base/atomicfile.h). */
dls_status dls_inspector_save(const dls_inspector *insp, const char *path,
                              dls_error *err) DLS_MUST_CHECK;

/* Read a plain HDF5 file whose group ("/" by default, NULL) has one dataset per parameter under its
 * published name. The architecture is read off names and shapes; what they cannot tell (depth of
 * the variable kind, aggregators and scalers of MPNN, reference behaviour) is the published
 * default, or what arch_text ("key=value ...", may be NULL) says. */
dls_status dls_inspector_import(const char *path, const char *group, const char *arch_text,
                                dls_inspector **out, dls_error *err) DLS_MUST_CHECK;
/* Add a setting from such a file: its MLP and, if there, its conv_layers.2. Other tensors of the
 * file must equal the base's, since a setting shares them. */
dls_status dls_inspector_import_setting(dls_inspector *insp, const char *name, const char *path,
                                        const char *group, dls_error *err) DLS_MUST_CHECK;

#endif
