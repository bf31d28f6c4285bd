/** Decimal strings for display and for ordering. They never become floating-point numbers here. */
import { type Decimal, decimal } from "../../../clients/typescript/src/index.ts";

/** The parts of a decimal string, which joined are the string again. */
export interface DecimalParts {
  /** `-`, or nothing. */
  readonly sign: string;
  /** The integer digits in groups of three: `["334", "508"]`. */
  readonly groups: readonly string[];
  /** The fraction with its point: `.44`; empty without one. */
  readonly fraction: string;
}

/** Takes a decimal string apart: `"-1234.50"`. */
export function partsOf(text: string): DecimalParts {
  const [, sign = "", integer = text, fraction = ""] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? [];
  const first = integer.length % 3 || 3;
  const groups = [integer.slice(0, first)];
  for (let at = first; at < integer.length; at += 3) groups.push(integer.slice(at, at + 3));
  return { sign, groups, fraction };
}

/** An amount as text with commas, for where there is no markup: `"-$1,234.50"`. */
export function usd(text: string): string {
  const { sign, groups, fraction } = partsOf(text);
  return `${sign}$${groups.join(",")}${fraction}`;
}

/** A decimal string as an exact integer of 1/10000, to compare and to add. */
export function scaled(text: string): bigint {
  const { sign, groups, fraction } = partsOf(text);
  return BigInt(`${sign}${groups.join("")}${fraction.slice(1).padEnd(4, "0").slice(0, 4)}`);
}

/** A number with two digits as an integer: of US dollars, the cents. */
export function hundredths(value: Decimal | undefined): bigint {
  return scaled(decimal(value)) / 100n;
}
