/* SPDX-License-Identifier: Apache-2.0 */
/* test_post_list.c: chains of work requests that are posted by one call. */
#include "test.h"

const struct test post_list_tests[] = {
    {NULL, NULL},
};
