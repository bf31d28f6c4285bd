/**
 * The length of the long random tests, as a multiple of their short form. `SOAK=100` makes them a
 * hundred times as long.
 *
 * @throws Error if the environment variable is not a positive number
 */
export const SOAK = Number(process.env.SOAK ?? 1);
if (!(SOAK > 0)) throw new Error(`SOAK must be a positive number, not ${process.env.SOAK}`);
