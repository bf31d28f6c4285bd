/** Takes what is shown elsewhere: a CSV file, a curl command, a TypeScript call. */
import type { DescMethod, MessageShape } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import {
  type GetDailyRevenueResponse,
  type GetOverviewResponse,
  type GetServerBreakdownResponse,
  RevenueService,
} from "../../../clients/typescript/src/index.ts";
import { CSV_ROWS } from "../../../src/gateway/csv-rows.ts";
import { type CsvRows, compileCsvWriter } from "../../../src/gateway/transcoding/csv-writer.ts";
import type { CallState, PeriodCall } from "../call/use-call.ts";
import { dayAt } from "../instant.ts";
import { periodText } from "../period/period.ts";
import { type Answer, periodOf } from "../period/period-section.tsx";
import { SERVICE_URL } from "../service-url.ts";
import { curlCommand, pathOf, typescriptCall } from "./snippets.ts";

interface ExportMenuProps {
  readonly timeZone: string;
  readonly overview: CallState<GetOverviewResponse>;
  readonly daily: PeriodCall<GetDailyRevenueResponse>;
  readonly breakdown: PeriodCall<GetServerBreakdownResponse>;
}

/** Shows the menu. It has what is on the page. */
export function ExportMenu({ timeZone, overview, daily, breakdown }: ExportMenuProps) {
  const [copied, setCopied] = useState<{ code: string; done: boolean }>();
  const copy = async (code: string) => {
    // The clipboard needs HTTPS or localhost. Without it, people select the text.
    const done = await (navigator.clipboard?.writeText(code) ?? Promise.reject()).then(
      () => true,
      () => false,
    );
    setCopied({ code, done });
  };
  const shared = { copy, timeZone };
  const { getOverview, getDailyRevenue, getServerBreakdown } = RevenueService.method;
  return (
    <>
      <button type="button" popovertarget="export">
        Export
      </button>
      <div id="export" class="card export" popover="auto" onToggle={() => setCopied(undefined)}>
        <Item title="Servers, all time" method={getOverview} call={overview} {...shared} />
        <Item title="Days" method={getDailyRevenue} call={daily} {...shared} />
        <Item title="Servers" method={getServerBreakdown} call={breakdown} {...shared} />
        <div role="status">
          {copied && (
            <>
              <p>
                {copied.done ? "Copied. " : "Select and copy. "}
                Set <code>REVENUE_API_KEY</code> to your API key.
              </p>
              <pre>{copied.code.trimEnd()}</pre>
            </>
          )}
        </div>
      </div>
    </>
  );
}

interface ItemProps<Method extends DescMethod> {
  readonly title: string;
  readonly method: Method;
  /** The call whose answer is shown. */
  readonly call: CallState<MessageShape<Method["output"]>>;
  readonly copy: (code: string) => void;
  /** The zone of the day of the figures. */
  readonly timeZone: string;
}

/**
 * What can be exported of one table. The CSV has the rows that the service would write of the answer, but
 * those of instances in a file of their own: a column of a file adds up to the figure of the page.
 */
function Item<Method extends DescMethod>(props: ItemProps<Method>) {
  const { title, method, call, copy, timeZone } = props;
  const { data, asOf } = call;
  const writeRows = (rows: CsvRows) => compileCsvWriter(method.output, CSV_ROWS[method.name], rows);
  const [writeCsv, writeInstances] = [writeRows("outer"), writeRows("contained")];
  if (data === undefined || asOf === undefined || writeCsv === undefined) return null;
  const shown = periodOf(data as Answer);
  // What was copied asks for what is shown.
  const parameters = { ...shown };
  const fileOf = (what: string) => fileName(what, Object.values(parameters), dayAt(asOf, timeZone));
  const curl = () => curlCommand(SERVICE_URL, pathOf(method), parameters);
  const typescript = () => typescriptCall(SERVICE_URL, method.localName, parameters);
  return (
    <section aria-label={title}>
      <p>
        <strong>{title}</strong> <span class="quiet small">{shown && periodText(shown)}</span>
      </p>
      <div class="buttons">
        <button type="button" onClick={() => download(fileOf(title), writeCsv(data))}>
          Download CSV
        </button>
        {writeInstances && (
          <button type="button" onClick={() => download(fileOf("Instances"), writeInstances(data))}>
            Download instances
          </button>
        )}
        <button type="button" onClick={() => copy(curl())}>
          Copy curl command
        </button>
        <button type="button" onClick={() => copy(typescript())}>
          Copy TypeScript
        </button>
      </div>
    </section>
  );
}

/** The name of a file: what it holds, of which days in which zone, and of which day the figures are. */
function fileName(title: string, period: readonly string[], asOf: string): string {
  const what = title.toLowerCase().replaceAll(/\W+/g, "-");
  const name = ["revenue", what, ...period, "as-of", asOf].join("_");
  return `${name.replaceAll("/", "-")}.csv`;
}

/** Spreadsheets read a CSV file as UTF-8 if it begins with a byte order mark. */
function download(name: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([`\ufeff${csv}`], { type: "text/csv;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has to start reading it first.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
