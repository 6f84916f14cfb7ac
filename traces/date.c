/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/date.h"

#include "dlsim/trace.h"

#include <stdio.h>

/* n digits at s as a number, or -1. */
static int digits(const char *s, int n)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return -1;
        }
        v = v * 10 + (s[i] - '0');
    }
    return v;
}

/* Days since 1970-01-01. Years are counted from March, so that the leap day is the last of its
 * year and 153 days make every five months. */
static int64_t days_from_civil(int year, int month, int day)
{
    const int y = month <= 2 ? year - 1 : year;
    const int m = month <= 2 ? month + 9 : month - 3;
    const int64_t leap_days = y / 4 - y / 100 + y / 400;
    return (int64_t)365 * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

bool dls_date_parse(const char *s, size_t len, int64_t *us)
{
    if (len < 19 || s[4] != '-' || s[7] != '-' || (s[10] != ' ' && s[10] != 'T') || s[13] != ':' ||
        s[16] != ':') {
        return false;
    }
    const int year = digits(s, 4), month = digits(s + 5, 2), day = digits(s + 8, 2);
    const int hour = digits(s + 11, 2), minute = digits(s + 14, 2), second = digits(s + 17, 2);
    if (year < 1970 || year > 2900 || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, month) || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        second < 0 || second > 60) {
        return false;
    }
    int offset_minutes = 0;
    if (len == 25 && (s[19] == '+' || s[19] == '-') && s[22] == ':') {
        const int h = digits(s + 20, 2), m = digits(s + 23, 2);
        if (h < 0 || h > 14 || m < 0 || m > 59) {
            return false;
        }
        offset_minutes = (s[19] == '-' ? -1 : 1) * (h * 60 + m);
    } else if (!(len == 19 || (len == 20 && s[19] == 'Z'))) {
        return false;
    }
    const int64_t minutes =
        days_from_civil(year, month, day) * 1440 + hour * 60 + minute - offset_minutes;
    *us = (minutes * 60 + second) * DLS_US_PER_S;
    return *us >= 0;
}

void dls_date_format(int64_t us, char out[32])
{
    const uint64_t seconds = (uint64_t)(us < 0 ? 0 : us) / 1000000u;
    const unsigned of_day = (unsigned)(seconds % 86400);
    const unsigned z = (unsigned)(seconds / 86400) + 719468u; /* days since 1 March of year 0 */
    const unsigned era = z / 146097, day_of_era = z % 146097; /* 400 years have 146097 days */
    const unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const unsigned day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const unsigned m = (5 * day_of_year + 2) / 153;
    const unsigned day = day_of_year - (153 * m + 2) / 5 + 1;
    const unsigned month = m < 10 ? m + 3 : m - 9;
    const unsigned year = era * 400 + year_of_era + (month <= 2);
    snprintf(out, 32, "%04u-%02u-%02u %02u:%02u:%02u", year % 10000, month % 100, day % 100,
             of_day / 3600, of_day / 60 % 60, of_day % 60);
}
