/* Algorithm 1 of the thesis ("SPDP Full Gibbs Sampling"), as it is printed, with identity transformation matrices: what the
 * engine's schedules are compared with.
 *
 * One work-item takes every token in turn. For each topic it computes both proportionalities from the counts,
 *
 *     r = 0:  (alpha + n)/(b + M)             * (m-t+1)/(m+1) * S(m+1,t)/S(m,t)
 *     r = 1:  (alpha + n)(b + a T)/(b + M)    * (t+1)/(m+1)   * (gamma + q)/(gamma V + sum_v q) * S(m+1,t+1)/S(m,t)
 *
 * in logarithms, as the thesis asks ("to avoid overflow"), takes the largest away, exponentiates, and draws one of the 2 K by a
 * linear scan. Nothing is kept from one token to the next but the counts.
 *
 * Where the print slips this file follows the model: a token that opened the only table of a dish that others eat stays where it
 * is (the print would leave customers without a table). With identity matrices the linked lists of base words hold nothing but the
 * word itself, so that q = sum_i t takes their place, as it does in the thesis's own implementation.
 *
 * It is not slowed down on purpose: single precision; counts of one word's topics lie side by side; one logarithm to a
 * proportionality (one for each factor takes twice as long); ratios of Stirling numbers, not the numbers, are what is tabulated
 * in logarithms, a pair to a look-up.
 */
#include "random.clh"
#include "stirling.clh"

#ifndef TOPICS
#define TOPICS 32 /* K */
#endif

/* first: the tokens have no topic yet. Counts: n [D][K]; m, t [I][V][K]; q [V][K]; M, T [I][K]; Q [K], the sum of q over words.
 * log_ratios: logarithms of both ratios of Stirling numbers, laid out like the table of stirling.clh. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void thesis_algorithm1(
    const int first, const uint seed, const uint iteration, const int tokens, __global const int *restrict token_word,
    __global const int *restrict token_document, __global const int *restrict document_group,
    __global int *restrict token_topic, __global int *restrict n, __global int *restrict m, __global int *restrict t,
    __global int *restrict q, __global int *restrict M, __global int *restrict T, __global int *restrict Q,
    __global const float2 *restrict log_ratios, const int width, const int words, const float alpha, const float gamma,
    const float discount, const float concentration)
{
    float weights[2 * TOPICS];
    for (int l = 0; l < tokens; ++l) {
        const int word = token_word[l];
        const int document = token_document[l];
        const int group = document_group[document];
        const size_t cell = ((size_t)group * words + word) * TOPICS;
        __global int *const n_d = n + (size_t)document * TOPICS;
        __global int *const m_iw = m + cell;
        __global int *const t_iw = t + cell;
        __global int *const q_w = q + (size_t)word * TOPICS;
        __global int *const M_i = M + group * TOPICS;
        __global int *const T_i = T + group * TOPICS;
        const float3 u = uniforms(seed, iteration, l);

        /* Lines 2 to 10: take the token out. */
        if (!first) {
            const int k = token_topic[l];
            const int r = u.x * (float)m_iw[k] < (float)t_iw[k];
            if (r && t_iw[k] == 1 && m_iw[k] > 1)
                continue;
            n_d[k] -= 1;
            m_iw[k] -= 1;
            M_i[k] -= 1;
            if (r) {
                t_iw[k] -= 1;
                q_w[k] -= 1;
                T_i[k] -= 1;
                Q[k] -= 1;
            }
        }

        /* Lines 11 to 17: both proportionalities of every topic. */
        float largest = -FLT_MAX;
        for (int k = 0; k < TOPICS; ++k) {
            const float customers = (float)m_iw[k];
            const float tables = (float)t_iw[k];
            const float2 stirling = log_ratios[seating_place(width, m_iw[k], t_iw[k])];
            const float topic = (alpha + (float)n_d[k]) / ((concentration + (float)M_i[k]) * (customers + 1.0f));
            const float base = (gamma + (float)q_w[k]) / (gamma * (float)words + (float)Q[k]);
            weights[2 * k] = log(topic * (customers - tables + 1.0f)) + stirling.x;
            weights[2 * k + 1] =
                log(topic * (concentration + discount * (float)T_i[k]) * (tables + 1.0f) * base) + stirling.y;
            largest = weights[2 * k] > largest ? weights[2 * k] : largest;
            largest = weights[2 * k + 1] > largest ? weights[2 * k + 1] : largest;
        }

        /* Line 18: draw topic and table indicator together. */
        float total = 0.0f;
        for (int x = 0; x < 2 * TOPICS; ++x) {
            weights[x] = exp(weights[x] - largest);
            total += weights[x];
        }
        const float goal = u.y * total;
        int drawn = 0;
        float passed = weights[0];
        while (passed <= goal && drawn < 2 * TOPICS - 1)
            passed += weights[++drawn];
        const int k = drawn / 2;
        const int r = drawn % 2 && t_iw[k] < width - 1; /* at the limit only where rounding led past the last weight */

        /* Lines 19 to 23: add it. */
        token_topic[l] = k;
        n_d[k] += 1;
        m_iw[k] += 1;
        M_i[k] += 1;
        if (r) {
            t_iw[k] += 1;
            q_w[k] += 1;
            T_i[k] += 1;
            Q[k] += 1;
        }
    }
}
