/** Takes what is shown elsewhere: a CSV file, a curl command, a TypeScript call. */
import type { DescMethod, MessageShape } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import {
  type GetDailyRevenueResponse,
  type GetOverviewResponse,
  type GetServerBreakdownResponse,
  RevenueService,
} from "../../../clients/typescript/src/index.ts";
import { compileCsvWriter } from "../../../src/gateway/transcoding/csv-writer.ts";
import type { CallState, PeriodCall } from "../call/use-call.ts";
import { days, isoDay } from "../instant.ts";
import { type Answer, daysOf } from "../period/period-section.tsx";
import { SERVICE_URL } from "../service-url.ts";
import { curlCommand, pathOf, typescriptCall } from "./snippets.ts";

interface ExportMenuProps {
  readonly overview: CallState<GetOverviewResponse>;
  readonly daily: PeriodCall<GetDailyRevenueResponse>;
  readonly breakdown: PeriodCall<GetServerBreakdownResponse>;
}

/** Shows the menu. It has what is on the page. */
export function ExportMenu({ overview, daily, breakdown }: ExportMenuProps) {
  const [copied, setCopied] = useState<{ code: string; done: boolean }>();
  const copy = async (code: string) => {
    // The clipboard needs HTTPS or localhost. Without it, people select the text.
    const done = await (navigator.clipboard?.writeText(code) ?? Promise.reject()).then(
      () => true,
      () => false,
    );
    setCopied({ code, done });
  };
  const { getOverview, getDailyRevenue, getServerBreakdown } = RevenueService.method;
  return (
    <>
      <button type="button" popovertarget="export">
        Export
      </button>
      <div id="export" class="card export" popover="auto" onToggle={() => setCopied(undefined)}>
        <Item title="Servers, all time" method={getOverview} call={overview} copy={copy} />
        <Item title="Days" method={getDailyRevenue} call={daily} copy={copy} />
        <Item title="Servers" method={getServerBreakdown} call={breakdown} copy={copy} />
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
}

/** What can be exported of one table. The CSV is what the service would write of the answer. */
function Item<Method extends DescMethod>({ title, method, call, copy }: ItemProps<Method>) {
  const { data, asOf } = call;
  const writeCsv = compileCsvWriter(method);
  if (data === undefined || asOf === undefined || writeCsv === undefined) return null;
  const shown = daysOf(data as Answer);
  // What was copied asks for what is shown.
  const parameters = shown ? { startDate: isoDay(shown[0]), endDate: isoDay(shown[1]) } : {};
  const file = fileName(title, Object.values(parameters), asOf);
  const curl = () => curlCommand(SERVICE_URL, pathOf(method), parameters);
  const typescript = () => typescriptCall(SERVICE_URL, method.localName, parameters);
  return (
    <section aria-label={title}>
      <p>
        <strong>{title}</strong> <span class="quiet small">{shown && days(...shown)}</span>
      </p>
      <div class="buttons">
        <button type="button" onClick={() => download(file, writeCsv(data))}>
          Download CSV
        </button>
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

/** The name of a file: what it holds, of which days, and of which day the figures are. */
function fileName(title: string, period: readonly string[], asOf: Date): string {
  const what = title.toLowerCase().replaceAll(/\W+/g, "-");
  return `${["revenue", what, ...period, "as-of", isoDay(asOf)].join("_")}.csv`;
}

/** Spreadsheets read a CSV file as UTF-8 if it begins with a byte order mark. */
function download(name: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([`\ufeff${csv}`], { type: "text/csv;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has to start reading it first.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
