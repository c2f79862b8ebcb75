/* Held-out perplexity by document completion: the probability of tokens that were never trained on.
 *
 *     p(w | d) = sum_k theta[d,k] phi[i,k,w],   theta[d,k] = (n[d,k] + alpha_k) / sum_k (n[d,k] + alpha_k)
 *
 * with phi as the model's header has it in wording_strip. Work-items take chunks of CHUNK tokens in turn. The tokens of a chunk are
 * always the same, so that the result does not depend on the number of workers; the host adds the chunks up in double precision.
 */
#ifndef CHUNK
#define CHUNK 256
#endif

/* document_scale [D]: 1 / sum_k (n + alpha); likelihood [tokens]: each token's probability; log_likelihood [chunks]: the sum of
 * their natural logarithms over each chunk. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void held_out(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global const float *restrict document_scale, __global float *restrict likelihood,
    __global float *restrict log_likelihood, MODEL_ARGUMENTS)
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
            for (int strip = 0; strip < STRIPS; ++strip)
                lanes += (STRIP(rows.document, strip) + STRIP(model.alpha, strip)) *
                         wording_strip(&model, &sums, &rows, strip);
            const float4 lanes4 = lanes.lo + lanes.hi;
            const float2 lanes2 = lanes4.lo + lanes4.hi;
            const float probability = (lanes2.x + lanes2.y) * document_scale[token_document[l]];
            likelihood[l] = probability;
            total += log(probability);
        }
        log_likelihood[chunk] = total;
    }
}
