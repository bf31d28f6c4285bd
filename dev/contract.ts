/** The contract with whoever makes the tables of the ledger, as a table of docs/adopt.md. */
import { type Kind, LEDGER } from "../src/db/contract/ledger.ts";

/** Each table in a row, with its columns. */
export function contractTable(): string {
  const rows = Object.entries(LEDGER).flatMap(([table, { columns }]) =>
    Object.entries(columns).map(([name, { kind, nullable }], nth) => {
      const type = `\`${kind.type}\`${nullable ? ", may be NULL" : ""}`;
      return [nth === 0 ? `\`${table}\`` : "", `\`${name}\``, type, alsoOf(kind)];
    }),
  );
  return [
    "| table | column | type | or, in a table or view of yours |",
    "|---|---|---|---|",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
    "",
  ].join("\n");
}

const alsoOf = ({ also = "" }: Kind) => also;
