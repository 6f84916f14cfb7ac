/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A prediction out of what a truth model says of a job alone (dls_solo): for the sources that predict
 * by such a model. Bursts and pauses of an iteration:
 *
 *      GPU         busy for utilisation x iteration, else idle; at its peak while busy
 *      GPU memory  while the GPU is busy, at the rate that makes the mean right
 *      network     link_bytes at the pace of the link when it is free, as the world moves them
 */
#ifndef DLS_SOURCES_FROM_SOLO_H
#define DLS_SOURCES_FROM_SOLO_H

#include "world/world.h"

void dls_prediction_of_solo(const dls_solo *solo, dls_prediction *out);

#endif
