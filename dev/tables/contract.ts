/** The contract with whoever makes the tables of the ledger, as two tables of docs/adopt.md. */
import { type Column, type Kind, LEDGER } from "../../src/db/contract/ledger.ts";
import { code, table } from "./markdown.ts";

/** Each table with its columns, by type; and what else is right for each type. */
export function contractTable(): string {
  const tables = Object.entries(LEDGER).map(([name, { columns }]) => {
    const byType = Map.groupBy(Object.entries(columns), ([, column]) => typeOf(column));
    const groups = Array.from(
      byType,
      ([type, group]) => `${group.map(([column]) => code(column)).join(", ")}: ${type}`,
    );
    return [code(name), groups.join("; ")];
  });
  const kinds = Object.values(LEDGER).flatMap(({ columns }) =>
    Object.values(columns).map(({ kind }) => kind),
  );
  const others = Array.from(
    Map.groupBy(kinds, ({ also }) => also),
    ([also, same]) => [[...new Set(same.map(nameOf))].join("; "), also ?? ""],
  );
  return [
    table([["table", "columns"], ...tables]),
    table([
      ["type", "or, in a table or view of yours"],
      ...others.filter(([, also]) => also !== ""),
    ]),
  ].join("\n");
}

const nameOf = ({ type, isIdentifier }: Kind) => `\`${type}\`${isIdentifier ? " by bytes" : ""}`;
const typeOf = ({ kind, nullable }: Column) => `${nameOf(kind)}${nullable ? ", or NULL" : ""}`;
