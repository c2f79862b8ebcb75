/* Schedule `blocked_nested` of LDA: a block's topics by a binary tree of convolutions and nested simulation (O(C log K) draws, the
 * blocking paper's 3.2.2).
 *
 * The tree's lowest level is f_1 .. f_K; node x of a level with `width` nodes joins nodes x and x + width of the level below. A node's row
 * says, for each number of tokens, the sum of the products over its topics. From the root down, a node's tokens are
 * divided among its two children.
 */
#include "blocked.clh"

#define HEIGHT_LIMIT 13 /* TREE is at most 2^12 */

/* One level from the one below: sums [count + 1][width] from below [count + 1][2 width]. */
static inline void join(__global const float *below, __global float *sums, const int width, const int count)
{
    if (width >= LANES) {
        for (int strip = 0; strip < width / LANES; ++strip)
            for (int c = 0; c <= count; ++c) {
                float8 sum = (float8)(0.0f);
                for (int j = 0; j <= c; ++j)
                    sum += STRIP(below + j * 2 * width, strip) * STRIP(below + (c - j) * 2 * width + width, strip);
                WRITE_STRIP(sums + c * width, strip, sum);
            }
        return;
    }
    for (int x = 0; x < width; ++x)
        for (int c = 0; c <= count; ++c) {
            float sum = 0.0f;
            for (int j = 0; j <= c; ++j)
                sum += below[j * 2 * width + x] * below[(c - j) * 2 * width + width + x];
            sums[c * width + x] = sum;
        }
}

/* scratch: the levels from the lowest up, [count + 1][TREE], [count + 1][TREE / 2], ..., [count + 1][1]. */
static inline int draw_block(const Model *model, const Sums *sums, const Rows *rows, __global ushort *topics, const int count,
                             Numbers *numbers, __global float *scratch)
{
    write_factors(model, sums, rows, count, scratch);
    __global float *level = scratch;
    for (int width = TREE / 2; width > 0; width /= 2) {
        __global float *above = level + (count + 1) * 2 * width;
        join(level, above, width, count);
        level = above;
    }
    if (!in_range(level[count]))
        return 0;

    /* Nodes still to be divided: their level's width, place in it, and tokens. */
    int widths[HEIGHT_LIMIT], places[HEIGHT_LIMIT], tokens[HEIGHT_LIMIT], waiting = 1;
    widths[0] = 1, places[0] = 0, tokens[0] = count;
    while (waiting > 0) {
        --waiting;
        int width = widths[waiting], place = places[waiting], left = tokens[waiting];
        while (width < TREE) {
            /* Levels are stored from the widest on: those wider than this one take 2 TREE - 2 width columns. */
            __global const float *here = scratch + (count + 1) * (2 * TREE - 2 * width) + place;
            __global const float *below = scratch + (count + 1) * (2 * TREE - 4 * width) + place;
            const int first = draw_share(below, below + width, 2 * width, left, here[left * width], next_number(numbers));
            width *= 2;
            if (first > 0 && first < left) {
                widths[waiting] = width, places[waiting] = place + width / 2, tokens[waiting] = left - first;
                ++waiting;
            }
            place = first > 0 ? place : place + width / 2;
            left = first > 0 ? first : left;
        }
        topics = seat_share(model, sums, rows, topics, place, left);
    }
    return 1;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void blocked_nested(
    const int blocks, __global const int *restrict starts, __global float *restrict scratch,
    __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    sweep_blocks(blocks, starts, token_word, token_document, token_topic, seed, iteration, scratch, &model);
}
