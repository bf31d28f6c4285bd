/** Formats tables for a terminal. */

/**
 * Formats rows under their headings, in aligned columns. Free text belongs in the last column,
 * which is not padded: the width of an emoji depends on the terminal.
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
 * Escapes control characters and changes of text direction (`\u{1b}`), so that a stored name
 * cannot control the terminal or reorder the line.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
