/** The charges behind a total: of a day, of a month, or of a server in a period. */
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { useMemo } from "preact/hooks";
import type { Charge } from "../../../clients/typescript/src/index.ts";
import { split } from "../../../src/revenue/fee.ts";
import { dollars } from "../amount/amount.tsx";
import { totalOf } from "../amount/sums.ts";
import { ProblemNotice } from "../call/problem-notice.tsx";
import { Section } from "../call/section.tsx";
import { usePages } from "../call/use-pages.ts";
import { Export } from "../export/export.tsx";
import { instant } from "../instant.ts";
import type { Page } from "../page.ts";
import { type Period, periodText } from "../period/period.ts";
import { names, numbers } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";
import { visibleName } from "../visible-name.ts";

/** How many charges are asked for at once, and how many are read unasked to find those of a server. */
const [PAGE, UNASKED] = [1_000, 10_000];

const timeOf = ({ chargeTime }: Charge) => (chargeTime ? timestampMs(chargeTime) : 0);
const columnsOf = (timeZone: string) => [
  {
    title: "Time",
    value: timeOf,
    cell: ({ chargeTime }: Charge) => (
      <span class="amount">{chargeTime && instant(timestampDate(chargeTime), timeZone)}</span>
    ),
  },
  names("Server", ({ serverName, serverId }: Charge) => [serverName, serverId]),
  names("Instance", ({ instanceName, instanceId }: Charge) => [instanceName, instanceId]),
  numbers("Amount", ({ amount }: Charge) => amount, { rank: "main" }),
];

interface ChargesProps extends Page {
  readonly period: Period;
  /** The gross revenue that was clicked, in cents; undefined if it is not known. */
  readonly total: bigint | undefined;
}

/** Shows the charges. */
export function Charges(props: ChargesProps) {
  const { client, period, total, timeZone, provider, asOf, address, reject } = props;
  const { server } = address;
  const columns = useMemo(() => columnsOf(timeZone), [timeZone]);
  const parameters = { ...period, timeZone };
  const pages = usePages(
    async (pageToken, options) => {
      const request = { ...parameters, pageSize: PAGE, pageToken };
      const page = await client.listCharges(request, options);
      return { rows: page.charges, next: page.nextPageToken };
    },
    ({ length }) => server === undefined || length % UNASKED === 0,
    asOf,
    reject,
  );
  const read = pages.data?.rows;
  const charges = read?.filter(({ serverId }) => server === undefined || serverId === server);
  const answer = charges && { charges };
  const sum = charges && totalOf(charges);
  const [{ serverName = "a server", serverId = "" } = {}] = charges ?? [];
  const title = server === undefined ? "" : ` of ${visibleName(serverName, serverId)}`;
  return (
    <Section
      id="charges"
      title={`Charges${title}`}
      call={pages}
      about={`${periodText(period)}, ${timeZone}`}
      head={
        <Export title="Charges" method="listCharges" {...{ answer, parameters, provider, asOf }} />
      }
    >
      <ProblemNotice calls={[pages]} />
      <section class="card" aria-label="Each charge">
        <DataTable
          label="Charges"
          empty={pages.more ? "None of these is of the server." : "No charges."}
          columns={columns}
          order="Time"
          rows={charges}
          few={50}
        />
        {pages.more && (
          <button type="button" onClick={pages.more}>
            Load older charges
          </button>
        )}
        {sum !== undefined && (
          <p role="status">{pages.more ? `${dollars(sum)} so far.` : comparison(sum, total)}</p>
        )}
      </section>
    </Section>
  );
}

/** What the sum is, beside what was clicked. */
function comparison(sum: bigint, total = sum): string {
  const { fee, earnings } = split({ gross: sum });
  const parts = `In all: gross ${dollars(sum)} − fee ${dollars(fee)} = earnings ${dollars(earnings)}`;
  if (sum === total) return `${parts}, as the figures say.`;
  return `${parts}. The figures say gross ${dollars(total)}: more was recorded since. Refresh them.`;
}
