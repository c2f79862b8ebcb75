/* Adds up what the workers changed in the totals while a phase ran: one work-item to a total.
 *
 * totals [count], as of the phase's start; worker_totals [workers][count], as each worker left its own copy.
 */
__kernel void merge_totals(const int workers, const int count, __global const int *restrict worker_totals,
                           __global int *restrict totals)
{
    const int x = get_global_id(0);
    if (x >= count)
        return;
    const int before = totals[x];
    int after = before;
    for (int worker = 0; worker < workers; ++worker)
        after += worker_totals[(size_t)worker * count + x] - before;
    totals[x] = after;
}
