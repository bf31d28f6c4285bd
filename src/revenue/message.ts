/** Figures as the messages of the contract carry them. */
import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Decimal, DecimalSchema } from "../../gen/google/type/decimal_pb.ts";
import { type Cents, formatCents } from "../db/cents.ts";

/** An amount as a decimal with two digits. */
export function money(cents: Cents): Decimal {
  return decimal(formatCents(cents));
}

/** A decimal string as a message. */
export function decimal(value: string): Decimal {
  return create(DecimalSchema, { value });
}

/** An instant in epoch ms as a message. */
export function timestamp(instant: number): Timestamp {
  return timestampFromMs(instant);
}
