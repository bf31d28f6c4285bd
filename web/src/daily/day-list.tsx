/** The days as a table. */
import type { DailyRevenue } from "../../../clients/typescript/src/index.ts";
import { type Column, counts, decimals } from "../table/columns.tsx";
import { useSorting } from "../table/sorting.ts";
import { Row, Table } from "../table/table.tsx";

const COLUMNS: readonly Column<DailyRevenue>[] = [
  { title: "Day", value: ({ date }) => date },
  decimals("Earnings", ({ earnings }) => earnings),
  decimals("Fees", ({ platformFees }) => platformFees),
  decimals("Gross", ({ grossRevenue }) => grossRevenue),
  counts("Charges", ({ charges }) => charges),
];

/** Shows the days; first the latest one at the top. */
export function DayList({ days }: { days: readonly DailyRevenue[] }) {
  const sorting = useSorting(days, COLUMNS, "Day");
  return (
    <Table label="Revenue per day" columns={COLUMNS} sorting={sorting}>
      {sorting.rows.map((day) => (
        <Row key={day.date} columns={COLUMNS} of={day}>
          {day.date}
        </Row>
      ))}
    </Table>
  );
}
