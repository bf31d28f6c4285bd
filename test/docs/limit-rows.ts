/** The rows of the tables of limits in docs/operations.md. */
import { codeIn, tableWith } from "./markdown.ts";

/** The limits that are settings: the variable, its value and its range. */
export const settingRows = tableWith(
  "limit",
  "variable",
  "value",
  "range",
  "beyond it",
  "what an operator sees",
).map(([, variable = "", value = "", range = ""]) => ({
  variable: codeIn(variable)[0] ?? "",
  value,
  range,
}));

/** The limits that are constants: what is limited, and the value. */
export const constantRows = tableWith("limit", "value", "beyond it", "what an operator sees").map(
  ([limit = "", value = ""]) => ({ limit, value }),
);

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
