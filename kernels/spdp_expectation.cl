/* The variational base of hybrid sampling, updated once a sweep (the thesis's equation 8.8):
 *
 *     qhat[i,k,w,v] = P^i[w,v] phi0[k,v] / sum_v' P^i[w,v'] phi0[k,v']
 *     phi0[k,v]     = exp(psi(gamma + sum_i sum_w qhat[i,k,w,v] t[i,k,w])),  then divided by its sum over v
 *
 * With a small gamma, exp(psi(gamma)) is far below gamma, 3e-5 for 0.1: words that a topic has not seen become all but impossible,
 * and held-out words cost the more. That is why this fits worse than integrating phi0 out. For the smallest gamma it is
 * less than single precision holds; phi0 is kept at SMALLEST of the largest then, so that no word becomes impossible.
 *
 * base [V][TOPICS]: phi0; wordings [I][V][TOPICS]: P phi0. Matrices as in spdp_associations.clh, with base words for rows of `tables`.
 */
#include "digamma.clh"
#include "topics.clh"

#define SMALLEST 1e-20f

/* The logarithm of phi0 up to a term: one work-item to a topic of a base word. */
__kernel void spdp_expectation(const int words, const float gamma, __global const int2 *restrict seats,
                               __global const float *restrict wordings, __global const int *restrict column_starts,
                               __global const int *restrict column_entries, __global const int *restrict entry_group_word,
                               __global const float *restrict entry_weight, __global float *restrict base)
{
    const int word = get_global_id(0) / TOPICS, k = get_global_id(0) % TOPICS;
    if (word >= words)
        return;
    const float before = base[(size_t)word * TOPICS + k];
    float tables = gamma;
    for (int x = column_starts[word]; x < column_starts[word + 1]; ++x) {
        const int entry = column_entries[x];
        const size_t cell = (size_t)entry_group_word[entry] * TOPICS + k;
        const int served = seats[cell].y;
        if (served > 0)
            tables += (float)served * entry_weight[entry] * before / wordings[cell];
    }
    base[(size_t)word * TOPICS + k] = digamma(tables);
}

/* phi0 from that: one work-item to a topic. */
__kernel void spdp_expectation_scale(const int words, __global float *restrict base)
{
    const int k = get_global_id(0);
    float largest = base[k], sum = 0.0f;
    for (int word = 1; word < words; ++word)
        largest = max(largest, base[(size_t)word * TOPICS + k]);
    for (int word = 0; word < words; ++word)
        sum += base[(size_t)word * TOPICS + k] = max(exp(base[(size_t)word * TOPICS + k] - largest), SMALLEST);
    for (int word = 0; word < words; ++word)
        base[(size_t)word * TOPICS + k] /= sum;
}

/* P phi0: one work-item to a topic of a group's word. */
__kernel void spdp_expectation_wordings(const int rows, __global const int *restrict entry_starts,
                                        __global const int *restrict entry_base, __global const float *restrict entry_weight,
                                        __global const float *restrict base, __global float *restrict wordings)
{
    const int row = get_global_id(0) / TOPICS, k = get_global_id(0) % TOPICS;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int entry = entry_starts[row]; entry < entry_starts[row + 1]; ++entry)
        sum += entry_weight[entry] * base[(size_t)entry_base[entry] * TOPICS + k];
    wordings[(size_t)row * TOPICS + k] = sum;
}
