/* Makes SPDP's counts agree with each other again, from customers and tables: run when a state is laid on the device and after
 * every pass in which many tokens changed them at once.
 *
 * Customers m and tokens n need no correction: each token takes itself out and puts itself in, and no change is lost. Tables do:
 * two tokens may each have closed what was the last but one. So t is brought back to 1 <= t <= m (0 where m = 0), and whatever
 * depends on it is counted anew: base words, what cells keep of their counts, and the sums over words.
 */

/* Tables into their bounds, with their base words and what is kept of them: one work-item to a row (i, w) of cells. */
__kernel void spdp_correct_cells(const int rows, MODEL_ARGUMENTS)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    const Model model = MODEL_GATHER;
    Rows cells;
    cells.joins = joins + (size_t)row * TOPICS;
    cells.seats = seats + (size_t)row * TOPICS;
    const BaseRow base = base_row(&model.base, row, row % words);
    for (int k = 0; k < TOPICS; ++k) {
        const int2 seat = valid_seat(&model, cells.seats[k]);
        write_cell(&model, &cells, k, seat.x, correct_entries(&base, k, seat, width - 1));
    }
}

/* Tables by base word: one work-item to a base word, once the cells are right. */
__kernel void spdp_correct_base(MODEL_ARGUMENTS)
{
    const int word = get_global_id(0);
    if (word >= words)
        return;
    const Model model = MODEL_GATHER;
    recount_base(&model.base, seats, word, words, groups);
}

/* M[i,k] and T[i,k]: one work-item to each, first all of M, then all of T. */
__kernel void spdp_correct_totals(__global const int *restrict seats, const int words, const int groups,
                                  __global int *restrict totals)
{
    const int cells = groups * TOPICS, x = get_global_id(0);
    if (x >= 2 * cells)
        return;
    const int tables = x >= cells;
    const int group = x % cells / TOPICS, k = x % TOPICS;
    __global const int *counts = seats + 2 * ((size_t)group * words * TOPICS + k) + tables;
    int total = 0;
    for (int w = 0; w < words; ++w)
        total += counts[2 * (size_t)w * TOPICS];
    totals[x] = total;
}
