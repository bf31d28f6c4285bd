/** Sorting of tables by their columns. */
import { useMemo, useState } from "preact/hooks";

/** A column that rows can be sorted by. */
export interface Column<Row> {
  readonly title: string;
  /** Numbers are aligned to the right, and sorted from the largest. */
  readonly numeric?: boolean;
  /** The value to sort by. */
  readonly value: (row: Row) => string | number | bigint;
}

/** The order of a table. */
export interface Order {
  /** The index of the column. */
  readonly column: number;
  readonly descending: boolean;
}

/** Sorted rows, their order, and how to sort by another column. */
export interface Sorting<Row> {
  readonly rows: readonly Row[];
  readonly order: Order;
  sortBy(column: number): void;
}

/**
 * Keeps the order of a table. Sorting by the same column again turns the order round.
 *
 * @param first the index of the column by which the service has sorted the rows, descending
 */
export function useSorting<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  first: number,
): Sorting<Row> {
  const [order, setOrder] = useState<Order>({ column: first, descending: true });
  const sorted = useMemo(() => sort(rows, columns, order), [rows, columns, order]);
  const sortBy = (column: number) =>
    setOrder((before) => ({
      column,
      descending:
        before.column === column ? !before.descending : (columns[column]?.numeric ?? false),
    }));
  return { rows: sorted, order, sortBy };
}

function sort<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { column, descending }: Order,
): readonly Row[] {
  const value = columns[column]?.value;
  if (value === undefined) return rows;
  const direction = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    return left < right ? -direction : left > right ? direction : 0;
  });
}
