/**
 * A table with headings that sort it. It shows its first rows, and more when somebody asks; on paper all. In a
 * narrow place each row is a card (tables.css).
 */
// biome-ignore-all lint/a11y/noRedundantRoles: a browser may take the roles away from elements that are laid out as cards
import { Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Column } from "./columns.tsx";

/** How many rows are shown at least when somebody asks for more. Then it is twice as many each time. */
const MORE = 50;

interface DataTableProps<Of> {
  /** What the table holds, for people who do not see it. */
  readonly label: string;
  /** What to say if there are no rows. */
  readonly empty?: string;
  /** The columns, memoized. The cells of the first are the headings of the rows. */
  readonly columns: readonly Column<Of>[];
  /** The title of the column that the rows are sorted by at first, descending. */
  readonly order: string;
  /** The rows; undefined while they are loaded. */
  readonly rows: readonly Of[] | undefined;
  /** How many rows are shown unasked. */
  readonly few?: number;
  /** The rows that belong to a row. */
  readonly below?: (row: Of) => readonly Of[];
  /** The last rows in any order: sums. */
  readonly foot?: readonly Of[];
}

/** Shows the table. */
export function DataTable<Of>(props: DataTableProps<Of>) {
  const { label, empty, columns, rows, few = 10, below = () => [], foot = [] } = props;
  const top = useRef<HTMLDivElement>(null);
  const [most, setMost] = useState(few);
  const [order, setOrder] = useState({ by: props.order, descending: true });
  const sorted = useMemo(() => sort(rows ?? [], columns, order), [rows, columns, order]);
  const printing = usePrinting();
  if (rows === undefined) return <div class="blank rows" />;
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const sortBy = ({ title: by, numeric = false }: Column<Of>) =>
    setOrder(({ by: last, descending }) => ({
      by,
      descending: by === last ? !descending : numeric,
    }));
  const next = Math.min(rows.length, Math.max(MORE, 2 * most));
  const showMore = () => {
    setMost(next);
    // The button may be gone.
    top.current?.focus({ preventScroll: true });
  };
  const isShort = rows.length > most && most === few;
  return (
    <div class={isShort ? "data-table few" : "data-table"} ref={top} tabIndex={-1}>
      <table role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Heading key={column.title} {...column} order={order} sort={() => sortBy(column)} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sorted.slice(0, printing ? rows.length : most).map((row, index) => (
            <Fragment key={index}>
              {[row, ...below(row)].map((row, nth) => (
                <Row key={nth} isBelow={nth > 0} columns={columns} row={row} />
              ))}
            </Fragment>
          ))}
        </tbody>
        <tfoot role="rowgroup">
          {foot.map((row, index) => (
            <Row key={index} columns={columns} row={row} />
          ))}
        </tfoot>
      </table>
      {rows.length > most && (
        <button type="button" onClick={showMore}>
          Show {next === rows.length ? `all ${next}` : `${next} of ${rows.length}`}
        </button>
      )}
    </div>
  );
}

/** The order of a table: the title of a column, and its direction. */
interface Order {
  readonly by: string;
  readonly descending: boolean;
}

function sort<Of>(
  rows: readonly Of[],
  columns: readonly Column<Of>[],
  order: Order,
): readonly Of[] {
  const value = columns.find(({ title }) => title === order.by)?.value;
  if (value === undefined) return rows;
  const direction = order.descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    return left < right ? -direction : left > right ? direction : 0;
  });
}

/** Whether the page is being printed, which needs all rows. */
function usePrinting(): boolean {
  const [print] = useState(() => matchMedia("print"));
  const [printing, setPrinting] = useState(print.matches);
  useEffect(() => {
    const follow = () => setPrinting(print.matches);
    print.addEventListener("change", follow);
    return () => print.removeEventListener("change", follow);
  }, [print]);
  return printing;
}

interface HeadingProps extends Pick<Column<never>, "title" | "numeric"> {
  readonly order: Order;
  readonly sort: () => void;
}

function Heading({ title, numeric, order: { by, descending }, sort }: HeadingProps) {
  const sorted = by === title;
  return (
    <th
      role="columnheader"
      scope="col"
      class={numeric ? "numeric" : ""}
      {...(sorted && { "aria-sort": descending ? "descending" : "ascending" })}
    >
      <button type="button" onClick={sort}>
        {title}
        {sorted && <span aria-hidden="true">{descending ? "↓" : "↑"}</span>}
      </button>
    </th>
  );
}

interface RowProps<Of> {
  readonly columns: readonly Column<Of>[];
  readonly row: Of;
  readonly isBelow?: boolean;
}

/** A cell carries the title of its column, for the card. */
function Row<Of>({ columns, row, isBelow = false }: RowProps<Of>) {
  return (
    <tr role="row" class={isBelow ? "below" : ""}>
      {columns.map(({ title, numeric, rank = "", cell }, index) =>
        index === 0 ? (
          <th key={title} role="rowheader" scope="row">
            {cell(row)}
          </th>
        ) : (
          <td
            key={title}
            role="cell"
            // A text says by itself what it is.
            data-title={numeric ? title : undefined}
            class={`${numeric ? "numeric" : ""} ${rank}`}
          >
            {cell(row)}
          </td>
        ),
      )}
    </tr>
  );
}
