/** What is said of refunds beside gross revenue, which has them already. */
import type { Decimal } from "../../../clients/typescript/src/index.ts";
import { Amount } from "./amount.tsx";

/** Shows the refunds. */
export function Refunds({ value }: { readonly value: Decimal | undefined }) {
  return (
    <>
      of which refunds <Amount value={value} currency />
    </>
  );
}
