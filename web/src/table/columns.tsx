/** The columns of a table: what they are called, sorted by and show. */
import type { ComponentChildren } from "preact";
import { type Decimal, decimal } from "../../../clients/typescript/src/index.ts";
import { Amount, Count } from "../amount/amount.tsx";
import { scaled } from "../amount/decimal-text.ts";

/** A column that rows can be sorted by. */
export interface Column<Row> {
  readonly title: string;
  /** Numbers are aligned to the right, and sorted from the largest. */
  readonly numeric?: boolean;
  /** On a narrow screen it is not among what is shown unasked. */
  readonly detail?: boolean;
  /** The value to sort by. */
  readonly value: (row: Row) => string | number | bigint;
  /** What a cell shows. The first column has none: its cells are the headings of the rows. */
  readonly cell?: (row: Row) => ComponentChildren;
}

/** A column of US dollars, or of another decimal number. A dash stands for one that is `optional` and absent. */
export function decimals<Row>(
  title: string,
  of: (row: Row) => Decimal | undefined,
  { currency = true, detail = false, optional = false } = {},
): Column<Row> {
  const isAbsent = (row: Row) => optional && of(row) === undefined;
  return {
    title,
    numeric: true,
    detail,
    value: (row) => (isAbsent(row) ? Number.NEGATIVE_INFINITY : scaled(decimal(of(row)))),
    cell: (row) => (isAbsent(row) ? "–" : <Amount value={of(row)} currency={currency} />),
  };
}

/** A column of whole numbers. */
export function counts<Row>(title: string, of: (row: Row) => number): Column<Row> {
  return { title, numeric: true, value: of, cell: (row) => <Count value={of(row)} /> };
}
