/** A table with headings that sort it. On a narrow screen each row is a card (narrow.css). */
// biome-ignore-all lint/a11y/noRedundantRoles: a browser may take the roles away from elements that are laid out as cards
import type { ComponentChildren } from "preact";
import type { Column } from "./columns.tsx";
import type { Sorting } from "./sorting.ts";

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
  const { by, descending } = sorting.order;
  return (
    <div class="scroll">
      <table role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => {
              const { title, numeric } = column;
              const sorted = by === title;
              return (
                <th
                  key={title}
                  role="columnheader"
                  scope="col"
                  class={numeric ? "numeric" : ""}
                  {...(sorted && { "aria-sort": descending ? "descending" : "ascending" })}
                >
                  <button type="button" onClick={() => sorting.sortBy(column)}>
                    {title}
                    <span class="arrow" aria-hidden="true">
                      {sorted ? (descending ? "↓" : "↑") : ""}
                    </span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody role="rowgroup">{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps<Of> {
  readonly columns: readonly Column<Of>[];
  readonly of: Of;
  readonly class?: string;
  /** The heading of the row. */
  readonly children: ComponentChildren;
}

/** Shows a row. A cell carries the title of its column, for the card. */
export function Row<Of>({ columns, of, class: name, children }: RowProps<Of>) {
  return (
    <tr role="row" class={name}>
      <th role="rowheader" scope="row">
        {children}
      </th>
      {columns.slice(1).map(({ title, numeric, cell }) => (
        <td key={title} role="cell" data-title={title} class={numeric ? "numeric" : ""}>
          {cell?.(of)}
        </td>
      ))}
    </tr>
  );
}
