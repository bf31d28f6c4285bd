/** Tables as CSV: RFC 4180, with a header row. */

/** A cell: text that people wrote, or digits that the service wrote. */
export type Cell = { readonly text: string } | { readonly digits: string | number };

/** A cell of text. */
export const text = (value: string): Cell => ({ text: value });

/** A cell of digits: an amount or a count. */
export const digits = (value: string | number): Cell => ({ digits: value });

/** Writes a table. */
export function csvOf(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [header.map(text), ...rows].map((cells) => cells.map(write).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function write(cell: Cell): string {
  const value = "text" in cell ? harmless(cell.text) : `${cell.digits}`;
  // Also what separates cells in some countries: ";" and tabs.
  return /[",;\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/**
 * A spreadsheet runs a cell as a formula if it begins with one of these, also in their full-width
 * forms; an apostrophe stops it.
 */
function harmless(value: string): string {
  return /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
}
