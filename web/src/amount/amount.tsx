/** Numbers with the very digits of the service. Comma and currency are style: a copy has neither. */
import { type Decimal, decimal } from "../../../clients/typescript/src/index.ts";
import { partsOf } from "./decimal-text.ts";

interface AmountProps {
  readonly value: Decimal | undefined;
  /** Whether a dollar sign precedes it. */
  readonly currency?: boolean;
}

/** Shows an amount or a number of hours. */
export function Amount({ value, currency = false }: AmountProps) {
  return <Digits text={decimal(value)} currency={currency} />;
}

/** Shows a whole number. */
export function Count({ value }: { readonly value: number }) {
  return <Digits text={String(value)} currency={false} />;
}

function Digits({ text, currency }: { readonly text: string; readonly currency: boolean }) {
  const { sign, groups, fraction } = partsOf(text);
  return (
    <span class={sign === "" ? "amount" : "amount negative"}>
      {sign}
      <span class={currency ? "usd" : ""}>
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
