/** Tables for people, on a terminal. */

/**
 * Rows under their headings in aligned columns. Free text belongs into the last column, which
 * is not padded: how wide a terminal draws an emoji or Arabic is for nobody to know.
 */
export function formatTable(headings: readonly string[], rows: readonly string[][]): string {
  const lines = [headings, ...rows].map((cells) => cells.map(printable));
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  return lines
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}

/**
 * The text with its control characters and its changes of direction spelled out (`\u{1b}`), so
 * that a stored name can neither steer the terminal nor disorder the line.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
