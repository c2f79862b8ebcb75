/* Writes the seating factors of every cell from its counts: one work-item to a row of TOPICS cells.
 *
 * Run when a state is laid on the device, and when the table of factors has changed.
 */
#include "spdp.clh"

__kernel void spdp_refresh(const int rows, const int width, __global const float2 *restrict ratios,
                           __global const int2 *restrict seats, __global float *restrict factors)
{
    const size_t row = get_global_id(0);
    if (row >= (size_t)rows)
        return;
    __global float *old_table = factors + row * 2 * TOPICS;
    __global float *new_table = old_table + TOPICS;
    for (int k = 0; k < TOPICS; ++k) {
        const int2 seat = seats[row * TOPICS + k];
        const float2 factor = seating_factors(ratios, width, seat.x, seat.y);
        old_table[k] = factor.x;
        new_table[k] = factor.y;
    }
}
