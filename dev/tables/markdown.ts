/** Tables of Markdown. */

/** A table: its headings, and its rows. */
export function table([heading = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`.replaceAll("|  |", "| |");
  return [line(heading), `|${"---|".repeat(heading.length)}\n`, ...rows.map(line)].join("");
}

/** A value as code; nothing if it is empty. */
export function code(value: string | number = ""): string {
  return value === "" ? "" : `\`${value}\``;
}
