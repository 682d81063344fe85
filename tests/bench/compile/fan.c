/* SPDX-License-Identifier: MIT */
/* fan.pipe by hand. */
void fan(const float *restrict x, float *restrict y, long packets)
{
    for (long p = 0; p < packets; p++) {
        float sum = 0;
        for (int i = 0; i < N; i++)
            sum += x[p] * (float)(1.0 / (i + 1)) + (float)(0.5 * i);
        y[p] = sum;
    }
}
