/* Schedule `blocked_backward` of LDA: a block's topics by successive convolution and backward simulation (O(C^2 K), the blocking paper's 3.2.1).
 *
 *     h_1:k(c) = sum_j h_1:k-1(c - j) f_k(j);   j_K is drawn in proportion to f_K(j) h_1:K-1(C - j), then j_K-1 with what is left, ...
 */
#include "blocked.clh"

/* scratch: factors [count + 1][TREE], then h [count + 1][TREE]. */
static inline int draw_block(const Model *model, const Sums *sums, const Rows *rows, __global ushort *topics, const int count,
                             Numbers *numbers, __global float *scratch)
{
    __global float *factors = scratch, *h = scratch + (count + 1) * TREE;
    write_factors(model, sums, rows, count, factors);
    for (int c = 0; c <= count; ++c)
        h[c * TREE] = factors[c * TREE];
    for (int k = 1; k < TOPICS; ++k)
        for (int c = 0; c <= count; ++c) {
            float sum = 0.0f;
            for (int j = 0; j <= c; ++j)
                sum += factors[j * TREE + k] * h[(c - j) * TREE + k - 1];
            h[c * TREE + k] = sum;
        }
    const float total = h[count * TREE + TOPICS - 1];
    if (!in_range(total))
        return 0;
    int left = count;
    for (int k = TOPICS - 1; k > 0 && left > 0; --k) {
        const int j = draw_share(factors + k, h + k - 1, TREE, left, h[left * TREE + k], next_number(numbers));
        topics = seat_share(model, sums, rows, topics, k, j);
        left -= j;
    }
    if (left > 0)
        seat_share(model, sums, rows, topics, 0, left);
    return 1;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void blocked_backward(
    const int blocks, __global const int *restrict starts, __global float *restrict scratch,
    __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    sweep_blocks(blocks, starts, token_word, token_document, token_topic, seed, iteration, scratch, &model);
}
