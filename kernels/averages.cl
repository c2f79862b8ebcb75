/* Running sums over samples of the posterior: what readers see divided by the number of samples.
 *
 * The model's header stands before this file.
 */
#include "topics.clh"

/* wording_sum [rows][TOPICS] += phi of the row (wording_rows_of). Work-items take rows in turn. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void average_wordings(
    const int rows, __global float *restrict wording_sum, MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const Sums sums = load_sums(&model, get_global_id(0));
    const int step = get_global_size(0);
    for (int row = get_global_id(0); row < rows; row += step) {
        const Rows cells = wording_rows_of(&model, row);
        __global float *sum = wording_sum + (size_t)row * TOPICS;
        for (int strip = 0; strip < STRIPS; ++strip)
            WRITE_STRIP(sum, strip, STRIP(sum, strip) + wording_strip(&model, &sums, &cells, strip));
    }
}

/* share_sum [D][TOPICS] += theta[d,k] = (n[d,k] + alpha_k) / sum_k (n[d,k] + alpha_k): one work-item to a document. */
__kernel void average_shares(const int documents, __global const int *restrict alpha_row, __global const float *restrict prior,
                             __global const float *restrict counts, __global const float *restrict alphas,
                             __global float *restrict share_sum)
{
    const int document = get_global_id(0);
    if (document >= documents)
        return;
    __global const float *n = counts + (size_t)document * TOPICS, *alpha = alphas + (size_t)alpha_row[document] * TOPICS;
    __global float *sum = share_sum + (size_t)document * TOPICS;
    float8 lanes = (float8)(0.0f);
    for (int strip = 0; strip < STRIPS; ++strip)
        lanes += STRIP(n, strip);
    const float scale = 1.0f / (sum_lanes(lanes) + prior[document]);
    for (int strip = 0; strip < STRIPS; ++strip)
        WRITE_STRIP(sum, strip, STRIP(sum, strip) + (STRIP(n, strip) + STRIP(alpha, strip)) * scale);
}

/* token_sum [I][V][TOPICS] += tokens of each group, word and topic: one work-item to a place of the schedule. seated: as in repeats.clh. */
__kernel void average_tokens(const int tokens, const int words, __global const int *restrict group,
                             __global const int *restrict token_word, __global const int *restrict token_document,
                             __global const ushort *restrict token_topic,
#ifdef REPEATS
                             __global const int *restrict seated,
#endif
                             volatile __global int *restrict token_sum)
{
    const int l = get_global_id(0);
    if (l >= tokens)
        return;
#ifdef REPEATS
    const int sitting = seated[l];
#else
    const int sitting = 1;
#endif
    if (sitting > 0)
        atomic_add(token_sum + ((size_t)group[token_document[l]] * words + token_word[l]) * TOPICS + token_topic[l], sitting);
}
