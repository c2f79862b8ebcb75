/* Schedule `data_augmentation` of LDA: theta and phi are drawn given the topics, then every topic given theta and phi.
 *
 *     theta[d] ~ Dirichlet(alpha + n[d]),   phi[k] ~ Dirichlet(beta + n[., k]),   p(z[l] = k) ~ theta[d,k] phi[k,v]
 *
 * Exact Gibbs sampling of the uncollapsed model; given theta and phi all tokens are drawn at once. Build with SHARED: tokens are counted by
 * many work-items, in whole numbers, whose sum does not depend on their order.
 */
#include "gamma.clh"

/* Where each kind of variate begins among the draws of (seed, iteration, place); tokens use draw 0. */
#define DRAWS_OF_SHARES 1u
#define DRAWS_OF_WORDINGS 0x10000u

/* theta [D][TOPICS], each row up to a factor, which drops out: one work-item to a document's topic. (In a document with tokens some
 * shape is above 1, and that variate does not vanish.) */
__kernel void draw_shares(const int documents, __global const float *restrict document_topics,
                          __global const float *restrict alpha, const uint seed, const uint iteration,
                          __global float *restrict shares)
{
    const size_t x = get_global_id(0);
    if (x >= (size_t)documents * TOPICS)
        return;
    const float shape = document_topics[x] + alpha[x % TOPICS];
    shares[x] = shape > 0.0f ? gamma_variate(shape, seed, iteration, x, DRAWS_OF_SHARES) : 0.0f;
}

/* Logarithms of phi [V][TOPICS], each topic up to a term: one work-item to a word's topic. (In a topic without tokens every shape is
 * beta, and every variate may be less than single precision holds.) */
__kernel void draw_wordings(const int words, __global const float *restrict word_topics, const float beta, const uint seed,
                            const uint iteration, __global float *restrict wordings)
{
    const size_t x = get_global_id(0);
    if (x < (size_t)words * TOPICS)
        wordings[x] = log_gamma_variate(word_topics[x] + beta, seed, iteration, x, DRAWS_OF_WORDINGS);
}

/* phi [V][TOPICS] from those, each topic up to a factor, and the factors [TOPICS]: one work-item to a topic. */
__kernel void scale_wordings(const int words, __global float *restrict wordings, __global float *restrict scale)
{
    const int k = get_global_id(0);
    float largest = wordings[k], sum = 0.0f;
    for (int v = 1; v < words; ++v)
        largest = max(largest, wordings[(size_t)v * TOPICS + k]);
    for (int v = 0; v < words; ++v)
        sum += wordings[(size_t)v * TOPICS + k] = exp(wordings[(size_t)v * TOPICS + k] - largest);
    scale[k] = 1.0f / sum;
}

/* One work-item to a token. */
__kernel void data_augmentation(const int tokens, __global const int *restrict token_word,
                                __global const int *restrict token_document, __global ushort *restrict token_topic,
                                const uint seed, const uint iteration, __global const float *restrict alpha,
                                __global const float *restrict shares, __global const float *restrict wordings,
                                __global const float *restrict scale)
{
    const int l = get_global_id(0);
    if (l >= tokens)
        return;
    __global const float *document = shares + (size_t)token_document[l] * TOPICS;
    __global const float *word = wordings + (size_t)token_word[l] * TOPICS;
    float8 weights[STRIPS];
    float8 lanes = (float8)(0.0f);
    for (int strip = 0; strip < STRIPS; ++strip) {
        weights[strip] = STRIP(document, strip) * STRIP(word, strip) * STRIP(scale, strip);
        lanes += weights[strip];
    }
    token_topic[l] = (ushort)draw_among(alpha, weights, lanes, uniforms(seed, iteration, l).y, token_topic[l]);
}

/* Counts the tokens into n[d,k] and n[v,k], both 0 before: one work-item to a token. */
__kernel void count_tokens(const int tokens, __global const int *restrict token_word,
                           __global const int *restrict token_document, __global const ushort *restrict token_topic,
                           __global float *restrict document_topics, __global float *restrict word_topics)
{
    const int l = get_global_id(0);
    if (l >= tokens)
        return;
    add_whole(document_topics + (size_t)token_document[l] * TOPICS + token_topic[l], 1.0f);
    add_whole(word_topics + (size_t)token_word[l] * TOPICS + token_topic[l], 1.0f);
}
