/** Sorting of tables by their columns. */
import { useMemo, useState } from "preact/hooks";
import type { Column } from "./columns.tsx";

/** The order of a table: the title of a column, and its direction. */
interface Order {
  readonly by: string;
  readonly descending: boolean;
}

/**
 * Keeps the order of a table. Sorting by the same column again turns the order round.
 *
 * @param first the title of the column that the rows are sorted by at first, descending
 */
export function useSorting<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  first: string,
) {
  const [order, setOrder] = useState<Order>({ by: first, descending: true });
  const sorted = useMemo(() => sort(rows, columns, order), [rows, columns, order]);
  const sortBy = ({ title, numeric = false }: Column<Row>) =>
    setOrder(({ by, descending }) => ({
      by: title,
      descending: by === title ? !descending : numeric,
    }));
  return { rows: sorted, order, sortBy };
}

function sort<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { by, descending }: Order,
): readonly Row[] {
  const value = columns.find(({ title }) => title === by)?.value;
  if (value === undefined) return rows;
  const direction = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    return left < right ? -direction : left > right ? direction : 0;
  });
}
