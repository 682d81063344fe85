/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/timestamp.h"

#include <stdint.h>
#include <string.h>

#define NANOSECONDS INT64_C(1000000000)

/* Cuts exactly `digits` digits off the front. */
static bool cut_digits(const char **text, int digits, int64_t *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++) {
        char c = (*text)[i];
        if (c < '0' || c > '9') return false;
        *number = *number * 10 + (c - '0');
    }
    *text += digits;
    return true;
}

static bool cut_mark(const char **text, char mark)
{
    if (**text != mark) return false;
    (*text)++;
    return true;
}

static bool is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* YYYY-MM-DD as days since 1970-01-01. */
static bool cut_day(const char **text, int64_t *days)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int64_t year, month, day;
    if (!cut_digits(text, 4, &year) || !cut_mark(text, '-') || !cut_digits(text, 2, &month) ||
        !cut_mark(text, '-') || !cut_digits(text, 2, &day) || month < 1 || month > 12)
        return false;
    bool leap = is_leap_year(year);
    int64_t length = before[month] - before[month - 1] + (leap && month == 2);
    if (day < 1 || day > length) return false;
    int64_t past = year - 1;
    /* Of the years 1 to `past`; year 0 has one, too, so it begins a day earlier. */
    int64_t leap_days = year == 0 ? -1 : past / 4 - past / 100 + past / 400;
    *days = year * 365 + leap_days + before[month - 1] + (leap && month > 2) + day - 1 - 719527;
    return true;
}

/* hh:mm:ss, and a fraction. */
static bool cut_time(const char **text, int64_t *seconds, int64_t *nanoseconds)
{
    int64_t hour, minute, second, unit = NANOSECONDS / 10;
    *nanoseconds = 0;
    if (!cut_digits(text, 2, &hour) || !cut_mark(text, ':') || !cut_digits(text, 2, &minute) ||
        !cut_mark(text, ':') || !cut_digits(text, 2, &second) || hour > 23 || minute > 59 ||
        second > 59)
        return false;
    *seconds = (hour * 60 + minute) * 60 + second;
    if (!cut_mark(text, '.')) return true;
    const char *first = *text;
    for (; **text >= '0' && **text <= '9'; (*text)++, unit /= 10)
        *nanoseconds += (**text - '0') * unit;
    return *text > first && *text - first <= 9;
}

/* Z, +hh:mm, -hh:mm or nothing: seconds east. */
static bool cut_zone(const char **text, int64_t *east)
{
    int64_t hours, minutes;
    *east = 0;
    if (**text == '\0' || cut_mark(text, 'Z') || cut_mark(text, 'z')) return true;
    bool west = **text == '-';
    if (!west && **text != '+') return false;
    (*text)++;
    if (!cut_digits(text, 2, &hours) || !cut_mark(text, ':') || !cut_digits(text, 2, &minutes) ||
        hours > 23 || minutes > 59)
        return false;
    *east = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

bool prt_timestamp_parse(const char *text, enum scalar_type type, void *scalar)
{
    int64_t days, of_day = 0, nanoseconds = 0, east = 0, whole;
    bool known = type == SCALAR_I64 || type == SCALAR_U64 || type == SCALAR_F64;
    if (!known || !cut_day(&text, &days)) return false;
    if (*text != '\0') {
        if (!cut_mark(&text, 'T') && !cut_mark(&text, 't') && !cut_mark(&text, ' ')) return false;
        if (!cut_time(&text, &of_day, &nanoseconds) || !cut_zone(&text, &east) || *text != '\0')
            return false;
    }
    int64_t seconds = days * 86400 + of_day - east;
    if (type == SCALAR_F64) {
        double value = (double)seconds + (double)nanoseconds / (double)NANOSECONDS;
        memcpy(scalar, &value, sizeof value);
        return true;
    }
    if (__builtin_mul_overflow(seconds, NANOSECONDS, &whole) ||
        __builtin_add_overflow(whole, nanoseconds, &whole) || (type == SCALAR_U64 && whole < 0))
        return false;
    memcpy(scalar, &whole, sizeof whole);
    return true;
}
