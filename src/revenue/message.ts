/**
 * Decimal messages of the API.
 *
 * The messages of responses are object literals, of which TypeScript requires every field: a large
 * response has thousands of them, and protobuf-es' `create` takes several times as long.
 */
import type { Decimal } from "../../gen/google/type/decimal_pb.ts";
import { type Cents, formatCents, formatFixed } from "../db/cents.ts";
import { divide } from "./fee.ts";

/** An amount in US dollars with two digits: 450000n is "4500.00". */
export function money(cents: Cents): Decimal {
  return decimal(formatCents(cents));
}

/** In ms. */
const HUNDREDTH_OF_HOUR = 36_000n;

/** A time in ms as hours, rounded once to two digits, half up: 5400000n is "1.50". */
export function hours(time: bigint): Decimal {
  return decimal(formatFixed(divide(time, HUNDREDTH_OF_HOUR), 2));
}

/** A decimal string as a message. */
export function decimal(value: string): Decimal {
  return { $typeName: "google.type.Decimal", value };
}
