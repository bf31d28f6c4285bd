/**
 * A table with headings that sort it. It shows its first rows; the others come in pages, so that the
 * document never holds all of thousands. On a narrow screen each row is a card (narrow.css).
 */
// biome-ignore-all lint/a11y/noRedundantRoles: a browser may take the roles away from elements that are laid out as cards
import { type ComponentChildren, Fragment } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Count } from "../amount/amount.tsx";
import type { Column } from "./columns.tsx";
import { useSorting } from "./sorting.ts";

/** How many rows a page has. */
export const PAGE = 50;

interface DataTableProps<Of> {
  /** What the table holds, for people who do not see it. */
  readonly label: string;
  /** What to say if there may be no rows, and are none. */
  readonly empty?: string;
  readonly columns: readonly Column<Of>[];
  /** The title of the column that matters most: beside the heading on a card. */
  readonly main: string;
  /** The title of the column that the rows are sorted by at first, descending; `main` by default. */
  readonly order?: string;
  readonly rows: readonly Of[];
  /** How many rows are shown unasked. */
  readonly few?: number;
  readonly keyOf: (row: Of) => string;
  /** The names by which a row is found; without it there is no filter. It is always the same function. */
  readonly namesOf?: (row: Of) => readonly string[];
  /** The heading of a row. */
  readonly heading: (row: Of) => ComponentChildren;
  /** Rows that belong to a row. */
  readonly below?: (row: Of) => ComponentChildren;
  /** Further controls. */
  readonly children?: ComponentChildren;
}

/** Shows the table. */
export function DataTable<Of>(props: DataTableProps<Of>) {
  const { label, empty, columns, main, order = main, rows, few = 10 } = props;
  const { keyOf, namesOf, heading, below, children } = props;
  const top = useRef<HTMLDivElement>(null);
  const [word, setWord] = useState("");
  /** The first row that is shown; undefined for the first few. */
  const [start, setStart] = useState<number>();
  const found = useMemo(() => filter(rows, namesOf, word), [rows, namesOf, word]);
  const sorting = useSorting(found, columns, order);
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const count = found.length;
  const first = start !== undefined && start < count ? start : 0;
  const end = Math.min(count, first + (start === undefined ? few : PAGE));
  const go = (to: number) => {
    setStart(to);
    // The button may be gone.
    top.current?.focus();
  };
  return (
    <div
      class={start === undefined && count > few ? "data-table few" : "data-table"}
      ref={top}
      tabIndex={-1}
    >
      {namesOf && (
        <div class="buttons">
          <input
            type="search"
            aria-label={`Find by name: ${label}`}
            placeholder="Find by name"
            value={word}
            onInput={(event) => setWord(event.currentTarget.value)}
          />
          {children}
          <span class="quiet small" role="status">
            {word && (
              <>
                <Count value={count} /> of{" "}
              </>
            )}
            <Count value={rows.length} /> {rows.length === 1 ? "server" : "servers"}
          </span>
        </div>
      )}
      {count === 0 ? (
        <p class="empty">No server has this name.</p>
      ) : (
        <table role="table" aria-label={label}>
          {headOf(columns, sorting)}
          <tbody role="rowgroup">
            {sorting.rows.slice(first, end).map((row) => (
              <Fragment key={keyOf(row)}>
                <Row columns={columns} main={main} of={row}>
                  {heading(row)}
                </Row>
                {below?.(row)}
              </Fragment>
            ))}
          </tbody>
        </table>
      )}
      {start === undefined && count > few && (
        <button type="button" onClick={() => go(0)}>
          Show all <Count value={count} />
        </button>
      )}
      {start !== undefined && count > PAGE && (
        <div class="buttons">
          <button type="button" disabled={first === 0} onClick={() => go(first - PAGE)}>
            Previous
          </button>
          <span class="small" role="status">
            <Count value={first + 1} /> – <Count value={end} /> of <Count value={count} />
          </span>
          <button type="button" disabled={end === count} onClick={() => go(end)}>
            Next
          </button>
        </div>
      )}
    </div>
  );
}

function filter<Of>(
  rows: readonly Of[],
  namesOf: ((row: Of) => readonly string[]) | undefined,
  word: string,
): readonly Of[] {
  const wanted = word.trim().toLowerCase();
  if (namesOf === undefined || wanted === "") return rows;
  return rows.filter((row) => namesOf(row).some((name) => name.toLowerCase().includes(wanted)));
}

function headOf<Of>(
  columns: readonly Column<Of>[],
  { order: { by, descending }, sortBy }: ReturnType<typeof useSorting<Of>>,
) {
  return (
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
              <button type="button" onClick={() => sortBy(column)}>
                {title}
                {sorted && <span aria-hidden="true">{descending ? "↓" : "↑"}</span>}
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

interface RowProps<Of> extends Pick<DataTableProps<Of>, "columns" | "main"> {
  readonly of: Of;
  readonly class?: string;
  /** The heading of the row. */
  readonly children: ComponentChildren;
}

/** Shows a row. A cell carries the title of its column, for the card. */
export function Row<Of>({ columns, main, of, class: name, children }: RowProps<Of>) {
  return (
    <tr role="row" class={name}>
      <th role="rowheader" scope="row">
        {children}
      </th>
      {columns.slice(1).map(({ title, numeric, detail, cell }) => (
        <td
          key={title}
          role="cell"
          // A text says by itself what it is.
          data-title={numeric && title !== main ? title : undefined}
          class={`${numeric ? "numeric" : ""} ${detail ? "detail" : ""} ${title === main ? "main" : ""}`}
        >
          {cell?.(of)}
        </td>
      ))}
    </tr>
  );
}
