/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dates to microseconds and back with the civil calendar's day count; time zones are fixed offsets
 * in the text.
 */
#include "traces/date.h"

#include "base/decimal.h"
#include "dlsim/trace.h"
#include "traces/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "+08:00", "+0800" and the like in minutes, "Z" or nothing: 0. */
static bool offset_of(const char *s, size_t len, int *minutes)
{
    char colon[7];
    *minutes = 0;
    if (len == 0 || (len == 1 && *s == 'Z')) {
        return true;
    }
    if (len == 5) {
        snprintf(colon, sizeof colon, "%.3s:%.2s", s, s + 3);
        s = colon;
        len = 6;
    }
    for (size_t i = 1; i < len; i++) {
        if (i == 3 ? s[i] != ':' : s[i] < '0' || s[i] > '9') {
            return false;
        }
    }
    if (len != 6 || (*s != '+' && *s != '-')) {
        return false;
    }
    const int h = (s[1] - '0') * 10 + s[2] - '0', m = (s[4] - '0') * 10 + s[5] - '0';
    *minutes = (*s == '-' ? -1 : 1) * (h * 60 + m);
    return h <= 14 && m <= 59;
}

bool dls_date_parse(const char *s, size_t len, int64_t *us)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    char text[sizeof form];
    int offset;
    struct tm tm = {0};
    if (len < sizeof form - 1 ||
        !offset_of(s + sizeof form - 1, len - (sizeof form - 1), &offset)) {
        return false;
    }
    memcpy(text, s, sizeof form - 1);
    text[sizeof form - 1] = '\0';
    text[10] = text[10] == 'T' ? ' ' : text[10];
    for (size_t i = 0; form[i]; i++) { /* strptime would take fewer digits and more blanks */
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) {
            return false;
        }
    }
    if (!strptime(text, "%Y-%m-%d %H:%M:%S", &tm) || tm.tm_year < 70 || tm.tm_year > 1000 ||
        tm.tm_sec > 60) {
        return false;
    }
    const int day = tm.tm_mday, second = tm.tm_sec;
    tm.tm_sec = 0;
    *us = ((int64_t)timegm(&tm) - (int64_t)offset * 60 + second) * DLS_US_PER_S;
    return tm.tm_mday == day && *us >= 0; /* 30 February has become a day of March */
}

bool dls_date_or_seconds(const char *s, size_t len, int64_t *us)
{
    return dls_date_parse(s, len, us) ||
           (dls_decimal_parse(s, len, DLS_SECONDS, us) <= DLS_DECIMAL_ROUNDED && *us >= 0);
}

void dls_date_format(int64_t us, char out[32])
{
    const time_t seconds = (time_t)((us < 0 ? 0 : us) / DLS_US_PER_S);
    struct tm tm;
    strftime(out, 32, "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &tm));
}

bool dls_date_span(const char *s, double *seconds)
{
    static const double with_days[] = {3600, 60, 1};
    static const double without[3][3] = {{60, 0, 0}, {60, 1, 0}, {3600, 60, 1}};
    double part[3], days = 0;
    int n = 0;
    char *end;
    const char *dash = strchr(s, '-');
    if (dash) {
        days = strtod(s, &end);
        if (end != dash || end == s || !(days >= 0)) {
            return false;
        }
        s = dash + 1;
    }
    for (bool more = true; more && n < 3; n++) {
        part[n] = strtod(s, &end);
        if (end == s || !(part[n] >= 0 && part[n] < 1e12)) {
            return false;
        }
        more = *end == ':';
        s = end + more;
    }
    if (*end != '\0') {
        return false;
    }
    const double *unit = dash ? with_days : without[n - 1];
    *seconds = 86400 * days;
    for (int i = 0; i < n; i++) {
        *seconds += unit[i] * part[i];
    }
    return true;
}
