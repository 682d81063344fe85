/* SPDX-License-Identifier: MIT */
/* nest3.pipe by hand. */
void product(const float *restrict a, const float *restrict b, float *restrict y)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            y[i * N + j] = sum;
        }
}
