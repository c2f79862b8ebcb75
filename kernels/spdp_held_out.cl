/* Held-out perplexity by document completion: the log probability of tokens that were never trained on.
 *
 *     log sum_k theta[d,k] phi[i,k,w]
 *     theta[d,k] = (n[d,k] + alpha_k) / sum_k (n[d,k] + alpha_k)
 *     phi[i,k,w] = (m - a t)/(b + M) + (b + a T)/(b + M) * (gamma + q[w,k])/(gamma V + sum_w q)
 *
 * Work-items take chunks of CHUNK tokens in turn. The tokens of a chunk are always the same, so that the result does not depend on
 * the number of workers; the host adds the chunks up in double precision.
 */
#include "spdp.clh"

#ifndef CHUNK
#define CHUNK 256
#endif

/* document_scale [D]: 1 / sum_k (n + alpha); log_likelihood [chunks]: sums over each chunk's tokens, natural logarithms. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void held_out(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global const float *restrict document_scale, __global float *restrict log_likelihood, MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const Sums sums = load_sums(&model, get_global_id(0));
    const int step = get_global_size(0);
    for (int chunk = get_global_id(0); chunk * CHUNK < tokens; chunk += step) {
        const int end = min(tokens, (chunk + 1) * CHUNK);
        float total = 0.0f;
        for (int l = chunk * CHUNK; l < end; ++l) {
            const Rows rows = rows_of(&model, token_word[l], token_document[l]);
            float8 lanes = (float8)(0.0f);
            for (int strip = 0; strip < STRIPS; ++strip) {
                const int16 seats = vload16(strip, (__global const int *)rows.seats);
                const float8 base = (vload8(strip, rows.base) + model.gamma) * vload8(strip, sums.base_scale);
                const float8 repeat = convert_float8(seats.even) - model.discount * convert_float8(seats.odd);
                const float8 phi = repeat * vload8(strip, sums.old_table + rows.sum) +
                                   base * vload8(strip, sums.new_table + rows.sum);
                lanes += (vload8(strip, rows.document) + vload8(strip, model.alpha)) * phi;
            }
            const float4 lanes4 = lanes.lo + lanes.hi;
            const float2 lanes2 = lanes4.lo + lanes4.hi;
            total += log((lanes2.x + lanes2.y) * document_scale[token_document[l]]);
        }
        log_likelihood[chunk] = total;
    }
}
