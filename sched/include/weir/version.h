/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version of libweir and the one place for compiler attributes.
 *
 * WEIR_ABI_MAJOR changes when a plug-in built earlier can no longer be loaded;
 * WEIR_ABI_MINOR grows when something is appended (a field, an operation, a status).
 */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#define WEIR_VERSION   "0.1.0"
#define WEIR_ABI_MAJOR 1
#define WEIR_ABI_MINOR 0

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#define WEIR_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define WEIR_API
#define WEIR_PRINTF(format_index, first_argument)
#endif

#ifdef __cplusplus
#define WEIR_BEGIN_DECLS extern "C" {
#define WEIR_END_DECLS   }
#else
#define WEIR_BEGIN_DECLS
#define WEIR_END_DECLS
#endif

#endif
