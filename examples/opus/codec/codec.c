/* SPDX-License-Identifier: MIT */
/*
 * codec: the two kernels of opus.pipe.  An encoder and a decoder of libopus are flat blocks of memory, so they lie in
 * the state of their nodes: nothing is allocated, and a copy of the state goes on like the original.
 */
#include "opus.h" /* of 'pipec --emit=header' */

#include <opus/opus.h>
#include <string.h>

enum { RATE = 16000, CHANNELS = 1, FRAME = 320, LENGTH_BYTES = 2, PACKET_MAX = 1276 };
enum {
    TOO_LARGE = 1000
}; /* beside the errors of libopus, -7 to -1: PIPE_STOP means nothing here */

/* libopus has errors below 0. */
static int32_t fault_of(int status)
{
    return status < 0 ? -status : 0;
}

int32_t encode_init(void *state, int32_t bits_per_second)
{
    if (opus_encoder_get_size(CHANNELS) > encode_state_bytes) return TOO_LARGE;
    int status = opus_encoder_init(state, RATE, CHANNELS, OPUS_APPLICATION_AUDIO);
    if (status == OPUS_OK) status = opus_encoder_ctl(state, OPUS_SET_BITRATE(bits_per_second));
    return fault_of(status);
}

int32_t encode_run(void *state, const int16_t *x, uint8_t (*y)[1278], int32_t bits_per_second)
{
    (void)bits_per_second;
    memset(*y, 0, sizeof *y);
    int bytes = opus_encode(state, x, FRAME, *y + LENGTH_BYTES, PACKET_MAX);
    if (bytes < 0) return fault_of(bytes);
    (*y)[0] = (uint8_t)(bytes & 0xff);
    (*y)[1] = (uint8_t)(bytes >> 8);
    return 0;
}

int32_t encode_finish(void *state, const int16_t *x, uint64_t x_left, uint8_t (*y)[1278],
                      uint64_t *y_count, int32_t bits_per_second)
{
    int16_t frame[FRAME] = {0};
    memcpy(frame, x, x_left * sizeof *x);
    *y_count = x_left > 0;
    return x_left > 0 ? encode_run(state, frame, y, bits_per_second) : 0;
}

int32_t decode_init(void *state)
{
    if (opus_decoder_get_size(CHANNELS) > decode_state_bytes) return TOO_LARGE;
    return fault_of(opus_decoder_init(state, RATE, CHANNELS));
}

int32_t decode_run(void *state, const uint8_t (*x)[1278], int16_t *y)
{
    int bytes = (*x)[0] | (*x)[1] << 8;
    if (bytes > PACKET_MAX) return TOO_LARGE;
    int samples = opus_decode(state, *x + LENGTH_BYTES, bytes, y, FRAME, 0);
    return samples == FRAME ? 0 : samples < 0 ? -samples : TOO_LARGE;
}
