/* LDA's sums over words, counted anew: run when a state is laid on the device and after every pass in which many tokens changed
 * the counts at once. The counts themselves need no correction: each token takes itself out and puts itself in, and no change is lost.
 */

/* n[k]: one work-item to a topic. */
__kernel void lda_correct(const int words, __global const float *restrict word_topics, __global int *restrict totals)
{
    const int k = get_global_id(0);
    int tokens = 0;
    for (int v = 0; v < words; ++v)
        tokens += (int)word_topics[(size_t)v * TOPICS + k];
    totals[k] = tokens;
}
