/* Schedule `sequential`: one work-item samples every token, one after another, in the order the host laid them out.
 *
 * Exact Gibbs sampling. The model's header (spdp.clh, ...) stands before this file and says what a token does.
 */
#include "repeats.clh"

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sequential(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, REPEATS_ARGUMENTS MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const Repeats repeats = REPEATS_GATHER;
    const Sums sums = load_sums(&model, 0);
    for (int l = 0; l < tokens;)
        l += resample_run(&model, &sums, &repeats, l, token_word[l], token_document[l], token_topic, seed, iteration);
}

/* The first pass: every token gets its topic from the model, given the tokens before it. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sequential_first(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, REPEATS_ARGUMENTS MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const Repeats repeats = REPEATS_GATHER;
    const Sums sums = load_sums(&model, 0);
    for (int l = 0; l < tokens;)
        l += assign_run(&model, &sums, &repeats, l, token_word[l], token_document[l], token_topic, seed, iteration);
}
