/** The contract with whoever makes the tables of the ledger, as a table of docs/adopt.md. */
import { type Kind, LEDGER } from "../../src/db/contract/ledger.ts";
import { code, table } from "./markdown.ts";

/** Each table in a row, with its columns. */
export function contractTable(): string {
  const rows = Object.entries(LEDGER).flatMap(([name, { columns }]) =>
    Object.entries(columns).map(([column, { kind, nullable }], nth) => {
      const type = `\`${kind.type}\`${nullable ? ", may be NULL" : ""}`;
      return [nth === 0 ? code(name) : "", code(column), type, alsoOf(kind)];
    }),
  );
  return table([["table", "column", "type", "or, in a table or view of yours"], ...rows]);
}

const alsoOf = ({ also = "" }: Kind) => also;
