/** Numbers with the very digits of the service. Comma and currency are style: a copy has neither. */
import { type Decimal, decimal } from "../../../clients/typescript/src/index.ts";
import { formatCents } from "../../../src/db/cents.ts";
import { partsOf, usd } from "./decimal-text.ts";

/** A number that is shown: a decimal of the service, a sum in cents, or a count; undefined while it is asked for. */
export type Value = Decimal | bigint | number | undefined;

interface AmountProps {
  readonly value: Value;
  /** Whether it is no US dollars: hours. A count never is. */
  readonly plain?: boolean | undefined;
}

/** The digits of a number, by default of zero. */
export function digitsOf(value: Value = 0n): string {
  if (typeof value === "bigint") return formatCents(value);
  return typeof value === "number" ? String(value) : decimal(value);
}

/** US dollars in a sentence: `$1,234.50`. */
export function dollars(value: Value): string {
  return usd(digitsOf(value));
}

/** Shows a number, or the place for it. */
export function Amount({ value, plain = false }: AmountProps) {
  if (value === undefined) return <span class="blank" />;
  const { sign, groups, fraction } = partsOf(digitsOf(value));
  return (
    <span class={sign === "" ? "amount" : "amount negative"}>
      {sign}
      <span class={plain || typeof value === "number" ? "" : "usd"}>
        {groups.map((group, index) => (
          <span class="group" key={index}>
            {group}
          </span>
        ))}
        {fraction}
      </span>
    </span>
  );
}
