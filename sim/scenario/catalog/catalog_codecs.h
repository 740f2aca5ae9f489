/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast one codec engine of a built-in GPU type is.
 *
 * Decoders: frames a second of 1920 x 1080 by generation, from NVIDIA's NVDEC application note (SDK
 * 13.0); they go with the video clock, and GA100 and Hopper have Turing's engine at theirs.
 * Encoders: NVIDIA's NVENC note, constant bit rate, by preset. A frame costs its pixels.
 */
#ifndef SIM_SCENARIO_CATALOG_CODECS_H
#define SIM_SCENARIO_CATALOG_CODECS_H

#include <stdbool.h>
#include <stdint.h>

enum sim_codec {
    SIM_CODEC_H264,
    SIM_CODEC_HEVC,
    SIM_CODEC_HEVC10, /* 10 bits a sample */
    SIM_CODEC_VP9,
    SIM_CODEC_AV1,
    SIM_CODECS
};
enum sim_preset { SIM_PRESET_P1, SIM_PRESET_P3, SIM_PRESET_P5, SIM_PRESET_P7, SIM_PRESETS };

const char *sim_codec_name(uint32_t codec);

/* Frames a second at 1920 x 1080 of one engine; 0 = it cannot, NAN = nothing is known of the type.
 */
double sim_catalog_decode_fps(const char *gpu_type, uint32_t codec);
double sim_catalog_encode_fps(const char *gpu_type, uint32_t codec, uint32_t preset);
/* Whether it is a type whose engines are known. */
bool sim_catalog_has_codecs(const char *gpu_type);
/* The one whose name is near; NULL = none is. */
const char *sim_catalog_near_codecs(const char *gpu_type);
/* Encode sessions at a time that the driver allows a system (GeForce, since 2024); UINT32_MAX = any
 * number. */
uint32_t sim_catalog_encode_sessions(const char *gpu_type);

#endif
