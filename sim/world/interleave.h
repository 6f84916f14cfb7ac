/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bursts of two jobs that were shifted against each other (after CASSINI, NSDI 2024): how much of the
 * one meets the other, also when their iterations are not all equally long.
 *
 * With jitter a job's phase is a random walk, in steps of sigma iterations. Its agent lets it wait before an
 * iteration that would begin more than `pull_back` iterations off, on average every
 *
 *      N = (b + 0.583)^2 + 0.25 iterations, at least 1;    b = pull_back / sigma
 *
 * the time that a walk of normal steps takes to leave [-b, b] (the square of where it then is, on average:
 * b and the mean overshoot, 0.583; Siegmund, Sequential Analysis, 1985). Nobody goes back in time: one that
 * is early by a part d of an iteration waits for d of it, one that is late for 1 - d, as likely: half an
 * iteration on average.
 */
#ifndef DLS_WORLD_INTERLEAVE_H
#define DLS_WORLD_INTERLEAVE_H

/* One burst in every period, from shift_s on; NAN: at any time, not coordinated. */
typedef struct dls_burst {
    double period_s, burst_s, shift_s;
    double life_s; /* for which it runs, about; only asked for where phases drift */
} dls_burst;

typedef struct dls_drift {
    double jitter;     /* standard deviation of an iteration's length over its mean; 0: none */
    double iterations; /* from one pull-back to the next, N above; infinite: there are none */
} dls_drift;

/* jitter and pull_back: 0..1. A job is never further off than half an iteration: above 0.5 nobody is
 * pulled back. */
dls_drift dls_drift_of(double jitter, double pull_back);

/* While `mine` bursts, how much the other does, over what it does on average: 0 they never meet, 1 as
 * if by chance. Never more: a coordinator that can do no better leaves it to chance. 1, too, unless one
 * period is a small multiple (1 to 8, within 5 %) of the other: bursts of other periods drift through
 * each other. The longer period counts as the exact multiple. With drift: the mean over the shorter of
 * both lives of what is expected when both phases begin as they were shifted and spread as
 *
 *      variance(t) = period^2 sigma^2 min(t / period, (N - 2) / 6)
 *
 * the latter that of a walk which begins anew at every pull-back (E s^4 = 6 E sum s^2 + 3 E n for n normal
 * steps); its density is taken for a normal one. O(1); up to 100 terms of a Fourier series with drift. */
double dls_interleave(const dls_burst *mine, const dls_burst *other, const dls_drift *drift);

#endif
