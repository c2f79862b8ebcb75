/* Held-out perplexity by document completion: the probability of tokens that were never trained on.
 *
 *     p(w | d) = sum_k theta[d,k] phi[i,k,w],   theta[d,k] = (n[d,k] + alpha_k) / sum_k (n[d,k] + alpha_k)
 *
 * with phi as the model's header has it in wording_strip, and where documents repeat words, with what repeats.clh makes of it. Work-items take
 * chunks of CHUNK tokens in turn. The tokens of a chunk are always the same, so that the result does not depend on the number of
 * workers; the host adds the chunks up in double precision.
 */
#include "repeats.clh"

#ifndef CHUNK
#define CHUNK 256
#endif

/* token_run [tokens]: the place where the token's word begins in its document, -1 where the document has none; document_tokens [D]:
 * trained on by now; prior [D]: sum alpha; likelihood [tokens]: each token's probability; likelihood_sum [tokens]: summed over `samples`
 * samples, this one included; 0 samples leave it alone. log_likelihood [2][chunks]: the sum over each chunk of the natural logarithms of the
 * probability, and of its mean over samples. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void held_out(
    const int tokens, const int chunks, const int samples, __global const int *restrict token_word,
    __global const int *restrict token_document, __global const int *restrict token_run,
    __global const int *restrict document_tokens, __global const float *restrict prior,
    __global float *restrict likelihood, __global float *restrict likelihood_sum, __global float *restrict log_likelihood,
    REPEATS_ARGUMENTS MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const Repeats repeats = REPEATS_GATHER;
    const Sums sums = load_sums(&model, get_global_id(0));
    const int step = get_global_size(0);
    for (int chunk = get_global_id(0); chunk < chunks; chunk += step) {
        const int end = min(tokens, (chunk + 1) * CHUNK);
        float total = 0.0f, mean_total = 0.0f;
        for (int l = chunk * CHUNK; l < end; ++l) {
            const int document = token_document[l];
            const Rows rows = rows_of(&model, token_word[l], document);
            float8 lanes = (float8)(0.0f);
            for (int strip = 0; strip < STRIPS; ++strip)
                lanes += (STRIP(rows.document, strip) + STRIP(rows.alpha, strip)) *
                         wording_strip(&model, &sums, &rows, strip);
            float probability = sum_lanes(lanes);
#ifdef REPEATS
            probability /= (float)document_tables[document] + prior[document];
            probability = repeat_probability(&repeats, token_run[l], document, document_tokens[document], probability);
#else
            probability /= (float)document_tokens[document] + prior[document];
#endif
            likelihood[l] = probability;
            total += log(probability);
            if (samples > 0) {
                likelihood_sum[l] += probability;
                mean_total += log(likelihood_sum[l] / (float)samples);
            }
        }
        log_likelihood[chunk] = total;
        log_likelihood[chunks + chunk] = mean_total;
    }
}
