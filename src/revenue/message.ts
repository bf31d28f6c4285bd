/** Decimal messages of the API. */
import type { Decimal } from "../../gen/google/type/decimal_pb.ts";
import { type Cents, formatCents } from "../db/cents.ts";

/** An amount in US dollars with two digits: 450000n is "4500.00". */
export function money(cents: Cents): Decimal {
  return decimal(formatCents(cents));
}

/**
 * A decimal string as a message. Most messages of a response are decimals, and `create` takes some
 * ten times as long as an object literal.
 */
export function decimal(value: string): Decimal {
  return { $typeName: "google.type.Decimal", value };
}
