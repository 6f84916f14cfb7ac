/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dates of traces, by pure arithmetic on the civil (proleptic Gregorian) calendar: the host's time
 * zone and daylight saving play no part.
 */
#ifndef DLS_TRACES_DATE_H
#define DLS_TRACES_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "YYYY-MM-DD HH:MM:SS" ('T' may stand for the blank), then optionally an offset "+HH:MM",
 * "-HH:MM" or "Z", to microseconds since 1970-01-01 00:00:00 of the clock that wrote it, or of UTC
 * when there is an offset. False for anything else and for dates outside 1970..2900. */
bool dls_date_parse(const char *s, size_t len, int64_t *us);
/* The same, or seconds since 1970 as a number. */
bool dls_date_or_seconds(const char *s, size_t len, int64_t *us);
/* A span as Slurm writes it, in seconds: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
 * days-hours:minutes or days-hours:minutes:seconds (sbatch(1), --time). False for anything else. */
bool dls_date_span(const char *s, double *seconds);
/* The reverse, "YYYY-MM-DD HH:MM:SS", fractions cut off; us >= 0. */
void dls_date_format(int64_t us, char out[32]);

#endif
