/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Figures of the vendor's data sheets and architecture white papers (named beside each family),
 * dense rates without sparsity, boost clock, one GPU (a K80 board has two, each is a row's worth).
 * Tensor rates accumulate in fp32: GeForce cards run that at half the advertised rate. The peer
 * link is NVLink where the form factor has it (half of the "total bandwidth" that data sheets add
 * up over both directions), else the PCIe slot: 3.0 x16 15.75 GB/s, 4.0 x16 31.5 GB/s. Static power
 * is fitted to measured runs (tests/golden/test_power.c), 0 where there are none.
 */
#include "cluster/cluster.h"

#include <strings.h>

#define TERA 1e12
#define GIGA 1e9
#define PCIE3 (15.75 * GIGA)
#define PCIE4 (31.5 * GIGA)

/* name, memory GiB, memory B/s, fp32 FLOP/s, tensor FLOP/s, peer B/s, board W, static W */
static const dls_gpu_type table[] = {
    /* Tesla K80 data sheet 2015 (240 GB/s and 4.37 TFLOP/s per GPU); K40 data sheet 2013 */
    {"K80", 12, 240 * GIGA, 4.37 * TERA, 0, PCIE3, 150, 0},
    {"K40", 12, 288 * GIGA, 5.04 * TERA, 0, PCIE3, 235, 0},
    /* GeForce GTX TITAN X (Maxwell), NVIDIA product page */
    {"TITAN-X-MAXWELL", 12, 336.5 * GIGA, 6.6 * TERA, 0, PCIE3, 250, 0},
    /* Tesla P100 white paper WP-08019 table 1; fp16 is twice fp32 on the vector units: no tensor */
    {"P100", 16, 732 * GIGA, 10.6 * TERA, 0, 80 * GIGA, 300, 33.26},
    {"P100-PCIE", 16, 732 * GIGA, 9.3 * TERA, 0, PCIE3, 250, 33.26},
    {"P40", 24, 346 * GIGA, 11.8 * TERA, 0, PCIE3, 250, 0},
    /* NVIDIA TITAN X (Pascal), TITAN Xp, GeForce GTX 1080 Ti, product pages */
    {"TITAN-X", 12, 480 * GIGA, 10.97 * TERA, 0, PCIE3, 250, 0},
    {"TITAN-XP", 12, 547.7 * GIGA, 12.15 * TERA, 0, PCIE3, 250, 0},
    {"GTX1080TI", 11, 484 * GIGA, 11.34 * TERA, 0, PCIE3, 250, 0},
    /* V100 white paper WP-08608 and data sheet 2020 */
    {"V100", 16, 900 * GIGA, 15.7 * TERA, 125 * TERA, 150 * GIGA, 300, 20.85},
    {"V100-32GB", 32, 900 * GIGA, 15.7 * TERA, 125 * TERA, 150 * GIGA, 300, 20.85},
    {"V100-PCIE", 16, 900 * GIGA, 14.0 * TERA, 112 * TERA, PCIE3, 250, 20.85},
    {"V100-PCIE-32GB", 32, 900 * GIGA, 14.0 * TERA, 112 * TERA, PCIE3, 250, 20.85},
    /* Turing white paper WP-09183; T4 data sheet 2019; NVLink bridge 100 GB/s in all */
    {"T4", 16, 320 * GIGA, 8.1 * TERA, 65 * TERA, PCIE3, 70, 0},
    {"RTX2080TI", 11, 616 * GIGA, 13.45 * TERA, 53.8 * TERA, PCIE3, 250, 0},
    {"TITAN-RTX", 24, 672 * GIGA, 16.3 * TERA, 130.5 * TERA, PCIE3, 280, 0},
    {"RTX6000", 24, 672 * GIGA, 16.3 * TERA, 130.5 * TERA, 50 * GIGA, 260, 54.64},
    {"RTX8000", 48, 672 * GIGA, 16.3 * TERA, 130.5 * TERA, 50 * GIGA, 260, 54.64},
    /* A100 white paper and data sheet 2021; A800: the same with NVLink cut to 400 GB/s in all */
    {"A100", 40, 1555 * GIGA, 19.5 * TERA, 312 * TERA, 300 * GIGA, 400, 0},
    {"A100-80GB", 80, 2039 * GIGA, 19.5 * TERA, 312 * TERA, 300 * GIGA, 400, 0},
    {"A100-PCIE", 40, 1555 * GIGA, 19.5 * TERA, 312 * TERA, PCIE4, 250, 0},
    {"A100-PCIE-80GB", 80, 1935 * GIGA, 19.5 * TERA, 312 * TERA, PCIE4, 300, 0},
    {"A800", 80, 2039 * GIGA, 19.5 * TERA, 312 * TERA, 200 * GIGA, 400, 0},
    /* A10, A30, A40 data sheets 2021; GeForce RTX 3090: GA102 white paper */
    {"A10", 24, 600 * GIGA, 31.2 * TERA, 125 * TERA, PCIE4, 150, 0},
    {"A30", 24, 933 * GIGA, 10.3 * TERA, 165 * TERA, 100 * GIGA, 165, 0},
    {"A40", 48, 696 * GIGA, 37.4 * TERA, 149.7 * TERA, 56.25 * GIGA, 300, 79.85},
    {"RTX3090", 24, 936 * GIGA, 35.6 * TERA, 71 * TERA, PCIE4, 350, 0},
    /* L4, L40S data sheets 2023; GeForce RTX 4090: Ada white paper */
    {"L4", 24, 300 * GIGA, 30.3 * TERA, 121 * TERA, PCIE4, 72, 0},
    {"L40S", 48, 864 * GIGA, 91.6 * TERA, 362 * TERA, PCIE4, 350, 0},
    {"RTX4090", 24, 1008 * GIGA, 82.6 * TERA, 165.2 * TERA, PCIE4, 450, 0},
    /* H100 white paper and data sheet 2023 (PCIe with NVLink bridges); H800: NVLink 400 GB/s in
     * all; H200 data sheet 2024 */
    {"H100", 80, 3350 * GIGA, 66.9 * TERA, 989.4 * TERA, 450 * GIGA, 700, 0},
    {"H100-PCIE", 80, 2000 * GIGA, 51.2 * TERA, 756 * TERA, 300 * GIGA, 350, 0},
    {"H800", 80, 3350 * GIGA, 66.9 * TERA, 989.4 * TERA, 200 * GIGA, 700, 0},
    {"H200", 141, 4800 * GIGA, 66.9 * TERA, 989.4 * TERA, 450 * GIGA, 700, 0},
};

/* Other spellings of the same GPU. */
static const struct {
    const char *alias, *name;
} aliases[] = {
    {"V100-16GB", "V100"},     {"V100-SXM2", "V100"},         {"V100M16", "V100"},
    {"V100M32", "V100-32GB"},  {"P100-SXM2", "P100"},         {"A100-40GB", "A100"},
    {"A800-80GB", "A800"},     {"H100-80GB", "H100"},         {"H100-SXM", "H100"},
    {"1080TI", "GTX1080TI"},   {"2080TI", "RTX2080TI"},       {"3090", "RTX3090"},
    {"4090", "RTX4090"},       {"TITANX", "TITAN-X"},         {"TITANXP", "TITAN-XP"},
    {"TITANRTX", "TITAN-RTX"}, {"QUADRO-RTX6000", "RTX6000"},
};

const dls_gpu_type *dls_gpu_table(size_t *n)
{
    *n = sizeof table / sizeof table[0];
    return table;
}

const dls_gpu_type *dls_gpu_find(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcasecmp(aliases[i].alias, name) == 0) {
            name = aliases[i].name;
            break;
        }
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcasecmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}
