/* SPDX-License-Identifier: Apache-2.0 */
/* export.h: marks what a library shows; the version scripts say under which version. */
#ifndef LOOPBACK_EXPORT_H
#define LOOPBACK_EXPORT_H

#define LB_EXPORT __attribute__((visibility("default")))

#endif
