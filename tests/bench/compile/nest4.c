/* SPDX-License-Identifier: MIT */
/* nest4.pipe by hand. */
void filter(const float *restrict taps, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                for (int l = 0; l < N; l++)
                    sum += taps[k * N + l] * x[(i + k) * 2 * N + j + l];
            y[i * N + j] = sum;
        }
}
