/** A table that scrolls by itself, with headings that sort it. */
import type { ComponentChildren } from "preact";
import type { Column, Sorting } from "./sorting.ts";

interface TableProps<Row> {
  /** What the table holds, for people who do not see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly sorting: Sorting<Row>;
  /** The rows. */
  readonly children: ComponentChildren;
}

/** Shows rows under headings. */
export function Table<Row>({ label, columns, sorting, children }: TableProps<Row>) {
  return (
    <div class="scroll">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, numeric }, index) => {
              const sorted = sorting.order.column === index;
              const direction = sorting.order.descending ? "descending" : "ascending";
              return (
                <th
                  key={title}
                  scope="col"
                  class={numeric ? "numeric" : ""}
                  {...(sorted && { "aria-sort": direction })}
                >
                  <button type="button" onClick={() => sorting.sortBy(index)}>
                    {title}
                    <span class="arrow" aria-hidden="true">
                      {sorted ? (sorting.order.descending ? "↓" : "↑") : ""}
                    </span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
