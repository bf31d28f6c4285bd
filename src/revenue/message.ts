/**
 * Decimal messages of the API.
 *
 * The messages of responses are object literals, of which TypeScript requires every field: a large
 * response has thousands of them, and protobuf-es' `create` takes several times as long.
 */
import type { Decimal } from "../../gen/google/type/decimal_pb.ts";
import { type Cents, formatCents } from "../db/cents.ts";

/** An amount in US dollars with two digits: 450000n is "4500.00". */
export function money(cents: Cents): Decimal {
  return decimal(formatCents(cents));
}

/** A decimal string as a message. */
export function decimal(value: string): Decimal {
  return { $typeName: "google.type.Decimal", value };
}
