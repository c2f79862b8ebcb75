/* Schedule `blocks`: documents x words are cut into P x P blocks; in phase s worker p samples block (p, p + s mod P).
 *
 * Within a phase no two workers share a document's row or a word's rows: no atomics, no lost updates. Only the sums
 * over words lag: each worker changes its own copy, and merge_totals.cl adds the changes up when the phase ends. (With
 * associations, so do tables of base words that words of several workers lead to: spdp_base_merge.cl.)
 * Tokens lie in the order (phase, worker, word, group, document), so that a word's rows stay in the cache over its run.
 * (The cut is that of Yan, Xu and Qi, "Parallel Inference for Latent Dirichlet Allocation on GPUs", NIPS 2009.)
 *
 * The model's header (spdp.clh, ...) stands before this file and says what a token does.
 */
#include "repeats.clh"

/* starts [P + 1]: where each worker's block of this phase begins among the tokens. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void blocks(
    __global const int *restrict starts, __global const int *restrict token_word,
    __global const int *restrict token_document, __global ushort *restrict token_topic, const uint seed,
    const uint iteration, REPEATS_ARGUMENTS MODEL_ARGUMENTS)
{
    const int worker = get_global_id(0);
    const Model model = MODEL_GATHER;
    const Repeats repeats = REPEATS_GATHER;
    const Sums sums = load_sums(&model, worker);
    const int end = starts[worker + 1];
    for (int l = starts[worker]; l < end;)
        l += resample_run(&model, &sums, &repeats, l, token_word[l], token_document[l], token_topic, seed, iteration);
}

/* The first pass. visits [N]: the same blocks, each with its tokens in the order of documents, since a document's
 * tokens tell each other's topics better than a word's do. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void blocks_first(
    __global const int *restrict starts, __global const int *restrict visits, __global const int *restrict token_word,
    __global const int *restrict token_document, __global ushort *restrict token_topic, const uint seed,
    const uint iteration, REPEATS_ARGUMENTS MODEL_ARGUMENTS)
{
    const int worker = get_global_id(0);
    const Model model = MODEL_GATHER;
    const Repeats repeats = REPEATS_GATHER;
    const Sums sums = load_sums(&model, worker);
    const int end = starts[worker + 1];
    for (int x = starts[worker]; x < end;) {
        const int l = visits[x];
        x += assign_run(&model, &sums, &repeats, l, token_word[l], token_document[l], token_topic, seed, iteration);
    }
}
