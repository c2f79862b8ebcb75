/* Base words that words of several workers lead to: each such worker has a copy of the base word's row of q for itself.
 *
 * tables [words + copies][TOPICS]; shared [count]: base words with copies; copy_starts [count + 1]: a base word's copies are the
 * rows words + copy_starts[s] .. words + copy_starts[s + 1]; before [count][TOPICS]: its counts when the phase began.
 * One work-item to a topic of a base word.
 */

static inline void spread(const float tables_now, const int s, const int k, const int words, __global const int *copy_starts,
                          __global float *before, __global float *tables)
{
    for (int copy = copy_starts[s]; copy < copy_starts[s + 1]; ++copy)
        tables[(size_t)(words + copy) * TOPICS + k] = tables_now;
    before[(size_t)s * TOPICS + k] = tables_now;
}

/* When a phase has ended: adds up what each copy's worker changed. */
__kernel void spdp_base_merge(const int words, __global const int *restrict shared, __global const int *restrict copy_starts,
                              __global float *restrict before, __global float *restrict tables)
{
    const int s = get_global_id(0) / TOPICS, k = get_global_id(0) % TOPICS;
    __global float *own = tables + (size_t)shared[s] * TOPICS + k;
    const float start = before[(size_t)s * TOPICS + k];
    float now = *own;
    for (int copy = copy_starts[s]; copy < copy_starts[s + 1]; ++copy)
        now += tables[(size_t)(words + copy) * TOPICS + k] - start;
    *own = now;
    spread(now, s, k, words, copy_starts, before, tables);
}

/* When the counts were laid down anew: copies them. */
__kernel void spdp_base_spread(const int words, __global const int *restrict shared, __global const int *restrict copy_starts,
                               __global float *restrict before, __global float *restrict tables)
{
    const int s = get_global_id(0) / TOPICS, k = get_global_id(0) % TOPICS;
    spread(tables[(size_t)shared[s] * TOPICS + k], s, k, words, copy_starts, before, tables);
}
