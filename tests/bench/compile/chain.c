/* SPDX-License-Identifier: MIT */
/* chain.pipe by hand. */
void chain(const float *restrict x, float *restrict y, long packets)
{
    for (long p = 0; p < packets; p++) {
        float s = x[p] + 0.125f;
        for (int i = 1; i < N - 1; i++)
            s = s * (1 - 0.015625f * (i % 8)) + 0.125f * (i % 8 + 1);
        y[p] = s * 0.5f;
    }
}
