/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmocka with what must be included before it, and tests that list themselves:
 *
 *     TEST(ends_in_order)
 *     {
 *         assert_int_equal(...);
 *     }
 *
 * runs with the others of its program in the order of the file; GROUP(before, after) says what is
 * called before the first and after the last. A program with a main of its own defines OWN_MAIN and
 * calls run_listed.
 */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include "base/owners.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* So many random cases; under the sanitizers, where each costs several times as much, the first quarter of them. */
#ifdef __SANITIZE_ADDRESS__
#define FEWER(n) ((n) / 4)
#else
#define FEWER(n) (n)
#endif
#define EACH (4 / FEWER(4)) /* of many given cases */

/* Policies, worlds and fixtures of tests are callbacks that leave most of their parameters alone.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { TESTS_MAX = 64 };
static struct CMUnitTest listed_test[TESTS_MAX];
static int listed_line[TESTS_MAX];
static size_t n_listed;
static CMFixtureFunction before_tests, after_tests;

/* Constructors come in any order. */
static inline void list_test(struct CMUnitTest test, int line)
{
    size_t at = n_listed++;
    assert(at < TESTS_MAX);
    for (; at > 0 && listed_line[at - 1] > line; at--) {
        listed_test[at] = listed_test[at - 1];
        listed_line[at] = listed_line[at - 1];
    }
    listed_test[at] = test;
    listed_line[at] = line;
}

#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

/* With what is called before it and after it, whatever became of it. */
#define TEST_BETWEEN(name, before, after)                                                          \
    static void name(void **cmocka_state);                                                         \
    __attribute__((constructor)) static void list_##name(void)                                     \
    {                                                                                              \
        list_test((struct CMUnitTest){#name, name, before, after, NULL}, __LINE__);                \
    }                                                                                              \
    static void name(void **cmocka_state)

#define GROUP(before, after)                                                                       \
    __attribute__((constructor)) static void list_group(void)                                      \
    {                                                                                              \
        before_tests = before;                                                                     \
        after_tests = after;                                                                       \
    }

static inline int run_listed(void)
{
    return _cmocka_run_group_tests("tests", listed_test, n_listed, before_tests, after_tests);
}

#ifndef OWN_MAIN
int main(void)
{
    return run_listed();
}
#endif

#endif
