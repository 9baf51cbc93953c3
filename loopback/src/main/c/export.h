/* SPDX-License-Identifier: Apache-2.0 */
/* export.h: marks the exported symbols of a library; the version scripts assign their versions. */
#ifndef LOOPBACK_EXPORT_H
#define LOOPBACK_EXPORT_H

#define LB_EXPORT __attribute__((visibility("default")))

#endif
