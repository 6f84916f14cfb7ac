/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Published facts of real jobs beside those of simulated ones, as a table in Markdown.
 */
#ifndef DLS_CLI_DATASET_FACTS_H
#define DLS_CLI_DATASET_FACTS_H

#include "predictor/dataset/facts.h"

void dls_dataset_facts_print(const dls_facts *facts);

#endif
