/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Preconditions, in three tiers by what they cost. A failed one is a defect of the caller: it is printed
 * and the program aborts. What users, files or policies can cause is an error (dls_fail), never an assert.
 *
 *      DLS_ASSERT        always: cheap, or the harm would be silent
 *      DLS_DEBUG_ASSERT  debug and sanitizer builds: on hot paths
 *      DLS_AUDIT_ASSERT  the same builds: more than O(1)
 */
#ifndef DLS_BASE_ASSERT_H
#define DLS_BASE_ASSERT_H

_Noreturn void dls_assert_failed(const char *what, const char *file, int line);

#define DLS_ASSERT(condition)                                                                      \
    ((condition) ? (void)0 : dls_assert_failed(#condition, __FILE__, __LINE__))

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
#define DLS_DEBUG_ASSERT(condition) DLS_ASSERT(condition)
#define DLS_AUDIT_ASSERT(condition) DLS_ASSERT(condition)
#else
#define DLS_DEBUG_ASSERT(condition) ((void)sizeof(!(condition)))
#define DLS_AUDIT_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

#endif
