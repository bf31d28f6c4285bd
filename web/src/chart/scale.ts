/** The axis of a chart. It shows proportions; the digits are in texts. */

/**
 * Round numbers at equal distances, about five, that span all values and zero.
 *
 * @param values USD; at least one is not zero
 */
export function scaleOf(values: readonly number[]): readonly number[] {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const least = Math.max(0.01, (high - low) / 4);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5].map((digit) => digit * power).find((size) => size >= least) ?? 10 * power;
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)];
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}
