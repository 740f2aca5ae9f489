/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in MIG tables: see the header. */
#include "sim/scenario/catalog/catalog_mig.h"

#include <string.h>

#define MIB INT64_C(1048576)

/* First slots that are allowed, as bits. */
enum {
    AT_0 = 0x01,
    HALVES = 0x11,
    LOW_3 = 0x15,
    EVERY_2ND = 0x55,
    ANY_OF_7 = 0x7f,
    QUARTERS = 0x05,
    ANY_OF_4 = 0x0f
};

/* name, slices, slots, memory, SMs, NVDECs, most on one GPU, starts */
static const struct weir_mig tables[] = {
    { .name = "a100-40",
      .slices = 7,
      .slots = 8,
      .sms = 108,
      .profile_count = 7,
      .profiles = { { "1g.5gb", 1, 1, 4864 * MIB, 14, 0, 7, ANY_OF_7 },
                    { "1g.5gb+me", 1, 1, 4864 * MIB, 14, 1, 1, ANY_OF_7 },
                    { "1g.10gb", 1, 2, 9856 * MIB, 14, 1, 4, EVERY_2ND },
                    { "2g.10gb", 2, 2, 9856 * MIB, 28, 1, 3, LOW_3 },
                    { "3g.20gb", 3, 4, 19968 * MIB, 42, 2, 2, HALVES },
                    { "4g.20gb", 4, 4, 19968 * MIB, 56, 2, 1, AT_0 },
                    { "7g.40gb", 7, 8, 40192 * MIB, 98, 5, 1, AT_0 } } },
    { .name = "a100-80",
      .slices = 7,
      .slots = 8,
      .sms = 108,
      .profile_count = 6,
      .profiles = { { "1g.10gb", 1, 1, 9856 * MIB, 14, 0, 7, ANY_OF_7 },
                    { "1g.20gb", 1, 2, 19968 * MIB, 14, 1, 4, EVERY_2ND },
                    { "2g.20gb", 2, 2, 19968 * MIB, 28, 1, 3, LOW_3 },
                    { "3g.40gb", 3, 4, 40192 * MIB, 42, 2, 2, HALVES },
                    { "4g.40gb", 4, 4, 40192 * MIB, 56, 2, 1, AT_0 },
                    { "7g.80gb", 7, 8, 80384 * MIB, 98, 5, 1, AT_0 } } },
    { .name = "h100",
      .slices = 7,
      .slots = 8,
      .sms = 132,
      .profile_count = 7,
      .profiles = { { "1g.10gb", 1, 1, 10240 * MIB, 16, 1, 7, ANY_OF_7 },
                    { "1g.10gb+me", 1, 1, 10240 * MIB, 16, 1, 1, ANY_OF_7 },
                    { "1g.20gb", 1, 2, 20480 * MIB, 16, 1, 4, EVERY_2ND },
                    { "2g.20gb", 2, 2, 20480 * MIB, 32, 2, 3, LOW_3 },
                    { "3g.40gb", 3, 4, 40960 * MIB, 48, 3, 2, HALVES },
                    { "4g.40gb", 4, 4, 40960 * MIB, 64, 4, 1, AT_0 },
                    { "7g.80gb", 7, 8, 81920 * MIB, 112, 7, 1, AT_0 } } },
    { .name = "h200",
      .slices = 7,
      .slots = 8,
      .sms = 132,
      .profile_count = 6,
      .profiles = { { "1g.18gb", 1, 1, 18432 * MIB, 16, 1, 7, ANY_OF_7 },
                    { "1g.35gb", 1, 2, 35840 * MIB, 16, 1, 4, EVERY_2ND },
                    { "2g.35gb", 2, 2, 35840 * MIB, 32, 2, 3, LOW_3 },
                    { "3g.71gb", 3, 4, 72704 * MIB, 48, 3, 2, HALVES },
                    { "4g.71gb", 4, 4, 72704 * MIB, 64, 4, 1, AT_0 },
                    { "7g.141gb", 7, 8, 144384 * MIB, 112, 7, 1, AT_0 } } },
    { .name = "b200",
      .slices = 7,
      .slots = 8,
      .sms = 148,
      .profile_count = 6,
      .profiles = { { "1g.23gb", 1, 1, 23552 * MIB, 18, 1, 7, ANY_OF_7 },
                    { "1g.45gb", 1, 2, 46080 * MIB, 18, 1, 4, EVERY_2ND },
                    { "2g.45gb", 2, 2, 46080 * MIB, 36, 2, 3, LOW_3 },
                    { "3g.90gb", 3, 4, 92160 * MIB, 54, 3, 2, HALVES },
                    { "4g.90gb", 4, 4, 92160 * MIB, 72, 4, 1, AT_0 },
                    { "7g.180gb", 7, 8, 184320 * MIB, 126, 7, 1, AT_0 } } },
    { .name = "a30",
      .slices = 4,
      .slots = 4,
      .sms = 56,
      .profile_count = 4,
      .profiles = { { "1g.6gb", 1, 1, 6144 * MIB, 14, 0, 4, ANY_OF_4 },
                    { "1g.6gb+me", 1, 1, 6144 * MIB, 14, 1, 1, ANY_OF_4 },
                    { "2g.12gb", 2, 2, 12288 * MIB, 28, 2, 2, QUARTERS },
                    { "4g.24gb", 4, 4, 24576 * MIB, 56, 4, 1, AT_0 } } },
};

size_t sim_catalog_mig_count(void)
{
    return sizeof tables / sizeof tables[0];
}

const struct weir_mig *sim_catalog_mig_at(size_t index)
{
    return &tables[index];
}

const struct weir_mig *sim_catalog_mig_find(const char *name)
{
    for (size_t i = 0; i < sim_catalog_mig_count(); i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}
