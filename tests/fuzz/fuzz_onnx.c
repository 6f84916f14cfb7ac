/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as an ONNX model: an error or a sound graph.
 */
#include "imported.h"
#include "workload/graph/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_any(dls_onnx_parse, data, size);
}
