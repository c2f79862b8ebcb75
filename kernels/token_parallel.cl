/* Schedule `token_parallel`: many tokens at once, each by a team of work-items, on counts that all of them share.
 *
 * A work-group has TEAMS teams of TEAM work-items. A team takes its token out, weighs the topics and seats it again, as if it
 * were alone; others do the same to the same counts meanwhile. Changes are atomic, so that none is lost; but what a team weighs is
 * out of date by what the others are doing, so this is not quite Gibbs sampling, and tables may leave their bounds. The host has
 * the model put that right after every pass (its *_correct.cl).
 *
 * (The thesis's GPU-SPDP, its Algorithm 2: tokens in the order of documents; and Improved-GPU-SPDP, 11.1.3: neighbours
 * from different documents. There a team is a work-group and has 2 K work-items.)
 *
 * Build with SHARED. The model's header stands before this file and says what a token does.
 */
#ifndef TEAM
#define TEAM 4 /* work-items to a token */
#endif
#ifndef TEAMS
#define TEAMS 8 /* tokens to a work-group */
#endif

#include "tokens.clh"

/* Before a pass, by one work-item: the sums that all teams share, from the totals. */
__kernel void token_parallel_begin(MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    load_sums(&model, 0);
}

/* One pass over the tokens; `first` where none has a topic yet. */
static inline void pass(const int first, const int tokens, __global const int *token_word, __global const int *token_document,
                        __global ushort *token_topic, const uint seed, const uint iteration, const Model *model,
                        __local float8 (*weights)[STRIPS])
{
    const int member = get_local_id(0) % TEAM, team = get_local_id(0) / TEAM;
    const int l = get_group_id(0) * TEAMS + team;
    const int at = l < tokens ? l : 0; /* teams beyond the last token only wait with the others */
    const Sums sums = sums_of(model, 0);
    resample_as_a_team(model, &sums, member, l < tokens, first, token_word[at], token_document[at],
                       token_topic + at, uniforms(seed, iteration, l), weights[team]);
}

__kernel __attribute__((reqd_work_group_size(TEAM * TEAMS, 1, 1))) void token_parallel(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, MODEL_ARGUMENTS)
{
    __local float8 weights[TEAMS][STRIPS];
    const Model model = MODEL_GATHER;
    pass(0, tokens, token_word, token_document, token_topic, seed, iteration, &model, weights);
}

/* The first pass: every token gets its topic from the model, given the tokens that have one by then. */
__kernel __attribute__((reqd_work_group_size(TEAM * TEAMS, 1, 1))) void token_parallel_first(
    const int tokens, __global const int *restrict token_word, __global const int *restrict token_document,
    __global ushort *restrict token_topic, const uint seed, const uint iteration, MODEL_ARGUMENTS)
{
    __local float8 weights[TEAMS][STRIPS];
    const Model model = MODEL_GATHER;
    pass(1, tokens, token_word, token_document, token_topic, seed, iteration, &model, weights);
}
