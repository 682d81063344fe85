/* SPDX-License-Identifier: MIT */
/* nest6.pipe by hand. */
void sums(const int *restrict x, int *restrict y)
{
    int s[N * N * N];
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            for (int c = 0; c < N; c++) {
                s[(a * N + b) * N + c] = 0;
                for (int d = 0; d < N; d++)
                    for (int e = 0; e < N; e++)
                        for (int f = 0; f < N; f++)
                            s[(a * N + b) * N + c] +=
                                (a ^ d) * (b ^ e) * (c ^ f) * x[(d * N + e) * N + f];
            }
    for (int i = 0; i < N * N * N; i++)
        y[i] = s[i];
}
