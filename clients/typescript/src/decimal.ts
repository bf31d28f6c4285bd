/** Amounts as decimal strings. */
import type { Decimal } from "../../../gen/google/type/decimal_pb.ts";

/**
 * The digits of an amount exactly as the service wrote them: `"4500.00"`. Do not turn them into a
 * `number` to calculate: use a decimal library, or a bigint of cents.
 *
 * @returns `"0"` for an amount that is absent or empty, which is zero in `google.type.Decimal`
 */
export function decimal(amount: Decimal | undefined): string {
  return amount?.value || "0";
}
