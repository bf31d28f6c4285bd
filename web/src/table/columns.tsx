/** The columns of a table: what they are called, sorted by and show. */
import type { ComponentChildren } from "preact";
import { Amount, digitsOf, type Value } from "../amount/amount.tsx";
import { scaled } from "../amount/decimal-text.ts";
import { linked } from "../figure-cards.tsx";
import { Name } from "../name.tsx";
import { visibleName } from "../visible-name.ts";

/** A column that rows can be sorted by. */
export interface Column<Row> {
  readonly title: string;
  /** Numbers are aligned to the right, and sorted from the largest. */
  readonly numeric?: boolean;
  /**
   * On a narrow screen: the column that matters most is beside the heading, a detail is not shown unasked, and what
   * is for a wide one is not shown.
   */
  readonly rank?: "main" | "detail" | "wide" | undefined;
  /** The value to sort by. */
  readonly value: (row: Row) => string | number | bigint;
  readonly cell: (row: Row) => ComponentChildren;
}

interface NumberOptions<Row> extends Pick<Column<Row>, "rank"> {
  /** Whether they are no US dollars. */
  readonly plain?: boolean;
  /** Where the charges of a row are. */
  readonly href?: (row: Row) => string | undefined;
}

/** A column of numbers: US dollars, hours or counts. A dash stands for one that there is not. */
export function numbers<Row>(
  title: string,
  of: (row: Row) => Value,
  { rank, plain = false, href }: NumberOptions<Row> = {},
): Column<Row> {
  const number = (row: Row, value: Value) =>
    value === undefined ? "–" : linked(href?.(row), <Amount value={value} plain={plain} />);
  return {
    title,
    numeric: true,
    rank,
    // What there is not comes last.
    value: (row) => (of(row) === undefined ? Number.NEGATIVE_INFINITY : scaled(digitsOf(of(row)))),
    cell: (row) => number(row, of(row)),
  };
}

/** A column of texts. */
export function texts<Row>(
  title: string,
  value: (row: Row) => string,
  cell: (row: Row) => ComponentChildren = value,
): Column<Row> {
  return { title, value, cell };
}

/** A column of names of servers or instances, each with its id; what has neither is left empty. */
export function names<Row>(
  title: string,
  of: (row: Row) => readonly [name: string, id: string],
): Column<Row> {
  const cell = (row: Row) => {
    const [name, id] = of(row);
    return (name || id) && <Name name={name} id={id} />;
  };
  return texts(title, (row) => visibleName(...of(row)), cell);
}

/** The column, if some row has a number other than zero in it. */
export function ifAny<Row>(rows: readonly Row[] | undefined, column: Column<Row>): Column<Row>[] {
  return rows?.some((row) => column.value(row) !== 0n) ? [column] : [];
}
