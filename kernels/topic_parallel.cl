/* Schedule `topic_parallel`: tokens one after another, the topics of each weighed by a team of work-items at once.
 *
 * Exact Gibbs sampling. (The thesis's sections 11.1.1 and 14.1, where it was found not to pay: the team must wait for each other three
 * times a token.) One work-group of TEAM work-items. The model's header stands before this file and says what a token does.
 */
#ifndef TEAM
#define TEAM 4 /* work-items to a token */
#endif

#include "tokens.clh"

/* One pass over the tokens; `first` where none has a topic yet. */
static inline void pass(const int first, const int tokens, __global const int *token_word, __global const int *token_document,
                        __global ushort *token_topic, const uint seed, const uint iteration, const Model *model,
                        __local float8 *weights)
{
    const int member = get_local_id(0);
    const Sums sums = sums_of(model, 0);
    if (member == 0)
        load_sums(model, 0);
    for (int l = 0; l < tokens; ++l) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* the last token is settled */
        resample_as_a_team(model, &sums, member, 1, first, token_word[l], token_document[l], token_topic + l,
                           uniforms(seed, iteration, l), weights);
    }
}

__kernel __attribute__((reqd_work_group_size(TEAM, 1, 1))) void topic_parallel(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, MODEL_ARGUMENTS)
{
    __local float8 weights[STRIPS];
    const Model model = MODEL_GATHER;
    pass(0, tokens, token_word, token_document, token_topic, seed, iteration, &model, weights);
}

/* The first pass: every token gets its topic from the model, given the tokens before it. */
__kernel __attribute__((reqd_work_group_size(TEAM, 1, 1))) void topic_parallel_first(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, MODEL_ARGUMENTS)
{
    __local float8 weights[STRIPS];
    const Model model = MODEL_GATHER;
    pass(1, tokens, token_word, token_document, token_topic, seed, iteration, &model, weights);
}
