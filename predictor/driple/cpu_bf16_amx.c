/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CPU engine of predictions in bf16 with AMX's matrix unit, AVX-512 for all else: cpu_engine.inc.h
 * with cpu_tiles.inc.h.
 */
#define ENGINE_AVX512
#define ENGINE_TILES
#define ENGINE_AMX
#define REAL float
#define ENGINE_NAME dls_cpu_bf16_amx
#define ENGINE_ISA "amx"
#include "predictor/driple/cpu_engine.inc.h"
