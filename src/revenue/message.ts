/** Decimal messages of the API. */
import { create } from "@bufbuild/protobuf";
import { type Decimal, DecimalSchema } from "../../gen/google/type/decimal_pb.ts";
import { type Cents, formatCents } from "../db/cents.ts";

/** An amount in US dollars with two digits: 450000n is "4500.00". */
export function money(cents: Cents): Decimal {
  return decimal(formatCents(cents));
}

/** A decimal string as a message. */
export function decimal(value: string): Decimal {
  return create(DecimalSchema, { value });
}
