/** The rows of the table of limits in docs/operations.md. */
import { codeIn, tableWith } from "./markdown.ts";

/** A row: what is limited, the variable that sets the limit, if there is one, its value and its range. */
export const limitRows = tableWith(
  "limit",
  "variable",
  "value",
  "range",
  "beyond it",
  "what an operator sees",
).map(([limit = "", variable = "", value = "", range = ""]) => ({
  limit,
  variable: codeIn(variable)[0],
  value,
  range,
}));

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  s: 1000,
  KiB: 1024,
  MiB: 1024 * 1024,
};

/** A value as a count, in ms or in bytes; a word, such as `on`, as it is. */
export function limitValue(text: string): number | string {
  const word = codeIn(text)[0];
  if (word !== undefined) return word;
  const [, digits, unit = ""] = /^([\d,]+)(?: (ms|s|KiB|MiB))?$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`the table has a limit of "${text}"`);
  return Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? Number.NaN);
}
