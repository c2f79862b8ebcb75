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
                const int16 seats = ((__global const int16 *)rows.seats)[strip];
                const float8 base = (STRIP(rows.base, strip) + model.gamma) * STRIP(sums.base_scale, strip);
                const float8 repeat = convert_float8(seats.even) - model.discount * convert_float8(seats.odd);
                const float8 phi = repeat * STRIP(sums.old_table + rows.sum, strip) +
                                   base * STRIP(sums.new_table + rows.sum, strip);
                lanes += (STRIP(rows.document, strip) + STRIP(model.alpha, strip)) * phi;
            }
            const float4 lanes4 = lanes.lo + lanes.hi;
            const float2 lanes2 = lanes4.lo + lanes4.hi;
            total += log((lanes2.x + lanes2.y) * document_scale[token_document[l]]);
        }
        log_likelihood[chunk] = total;
    }
}
