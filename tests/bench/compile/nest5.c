/* SPDX-License-Identifier: MIT */
/* nest5.pipe by hand. */
void filter(const int *restrict x, int *restrict y)
{
    for (int h = 0; h < N; h++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                int sum = 0;
                for (int k = 0; k < N; k++)
                    for (int l = 0; l < N; l++)
                        sum += (k - l) * x[h * 4 * N * N + (i + k) * 2 * N + j + l];
                y[(h * N + i) * N + j] = sum;
            }
}
