/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in codec engines: see the header. */
#include "sim/scenario/catalog/catalog_codecs.h"

#include "sim/engine/nearest.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct generation {
    double decode[SIM_CODECS];
    double encode_h264[SIM_PRESETS], encode_hevc[SIM_PRESETS];
    double encode_av1; /* of the rate of HEVC, 0 = it cannot */
};

enum { PASCAL, VOLTA, TURING, AMPERE, ADA, BLACKWELL };

static const struct generation generations[] = {
    [PASCAL] = { { 694, 810, 789, 846, 0 }, { 667, 649, 363, 321 }, { 539, 442, 370, 345 }, 0 },
    [VOLTA] = { { 480, 660, 643, 585, 0 }, { 667, 649, 363, 321 }, { 539, 442, 370, 345 }, 0 },
    [TURING] = { { 771, 1316, 1158, 932, 0 }, { 855, 600, 271, 229 }, { 932, 463, 305, 306 }, 0 },
    [AMPERE] = { { 748, 1415, 1299, 1075, 790 },
                 { 868, 613, 273, 231 },
                 { 943, 467, 307, 308 },
                 0 },
    [ADA] = { { 903, 1641, 1520, 1290, 1018 },
              { 910, 652, 291, 247 },
              { 1055, 494, 343, 343 },
              .9 },
    [BLACKWELL] = { { 2172, 1872, 1818, 1445, 1119 },
                    { 977, 718, 323, 264 },
                    { 1134, 529, 506, 464 },
                    .9 },
};

/* Turing's engine at 1860 MHz in other chips: GA100 at 1290, Hopper at 1545, T4 at 0.8 of it. */
static const struct {
    const char *name;
    uint32_t generation;
    double clock; /* over that of the generation's table */
} engines[] = {
    { "p100", PASCAL, 1 },
    { "v100m16", VOLTA, 1 },
    { "v100m32", VOLTA, 1 },
    { "t4", TURING, .8 },
    { "a100-40", TURING, 1290.0 / 1860 },
    { "a100-80", TURING, 1290.0 / 1860 },
    { "a30", TURING, 1290.0 / 1860 },
    { "h100", TURING, 1545.0 / 1860 },
    { "h100-pcie", TURING, 1545.0 / 1860 },
    { "h200", TURING, 1545.0 / 1860 },
    { "a10", AMPERE, 1 },
    { "a40", AMPERE, 1 },
    { "rtxa6000", AMPERE, 1 },
    { "l4", ADA, 1 },
    { "l40", ADA, 1 },
    { "l40s", ADA, 1 },
    { "rtx6000ada", ADA, 1 },
    { "rtx4090", ADA, 1 },
    { "b200", BLACKWELL, 1 },
};
enum { ENGINES = sizeof engines / sizeof engines[0] };

const char *sim_codec_name(uint32_t codec)
{
    static const char *const names[SIM_CODECS] = { "h264", "hevc", "hevc10", "vp9", "av1" };
    return codec < SIM_CODECS ? names[codec] : "?";
}

static size_t find(const char *gpu_type)
{
    size_t i = 0;
    while (i < ENGINES && strcmp(engines[i].name, gpu_type) != 0)
        i++;
    return i;
}

bool sim_catalog_has_codecs(const char *gpu_type)
{
    return find(gpu_type) < ENGINES;
}

const char *sim_catalog_near_codecs(const char *gpu_type)
{
    const char *near = NULL;
    for (size_t i = 0; i < ENGINES; i++)
        near = sim_nearer((struct sim_word){ gpu_type, strlen(gpu_type) }, near, engines[i].name);
    return near;
}

uint32_t sim_catalog_encode_sessions(const char *gpu_type)
{
    return strcmp(gpu_type, "rtx4090") == 0 ? 8 : UINT32_MAX;
}

double sim_catalog_decode_fps(const char *gpu_type, uint32_t codec)
{
    const size_t i = find(gpu_type);
    if (i == ENGINES)
        return (double)NAN;
    return generations[engines[i].generation].decode[codec] * engines[i].clock;
}

double sim_catalog_encode_fps(const char *gpu_type, uint32_t codec, uint32_t preset)
{
    const size_t i = find(gpu_type);
    if (i == ENGINES)
        return (double)NAN;
    const struct generation *generation = &generations[engines[i].generation];
    const double clock = engines[i].clock;
    if (codec == SIM_CODEC_VP9)
        return 0;
    if (codec == SIM_CODEC_H264)
        return generation->encode_h264[preset] * clock;
    return generation->encode_hevc[preset] * clock *
           (codec == SIM_CODEC_AV1 ? generation->encode_av1 : 1);
}
