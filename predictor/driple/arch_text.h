/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An architecture as text: "key=value" separated by blanks, as it stands in weights files and on
 * the command line ("conv=gcn hidden=64 depth=Nover2 gru=1 ..."). docs/inspector-files.md lists the
 * keys.
 */
#ifndef DLS_DRIPLE_ARCH_TEXT_H
#define DLS_DRIPLE_ARCH_TEXT_H

#include "predictor/driple/arch.h"

#define DLS_ARCH_TEXT_MAX 1024

/* All keys, in a fixed order, so that equal architectures give equal texts. */
void dls_arch_format(const dls_arch *arch, char text[DLS_ARCH_TEXT_MAX]);
/* Change the fields that text names; the others stay. EINPUT: an unknown key or a bad value. */
dls_status dls_arch_parse(dls_arch *arch, const char *text, dls_error *err) DLS_MUST_CHECK;

#endif
