/** Takes a table elsewhere: as CSV files, or by a curl command. */
import type { DescMethod } from "@bufbuild/protobuf";
import { RevenueService } from "../../../clients/typescript/src/index.ts";
import { CSV_ROWS } from "../../../src/gateway/csv-rows.ts";
import { compileCsvWriter } from "../../../src/gateway/transcoding/csv-writer.ts";
import { SERVICE_URL } from "../service-url.ts";
import { curlCommand, type Parameters, targetOf } from "./curl-command.ts";
import { fileName } from "./file-name.ts";

interface ExportProps {
  /** What the table holds, in the plural. */
  readonly title: string;
  /** The RPC that gives it. */
  readonly method: keyof typeof RevenueService.method;
  /** What of its answer is shown; undefined if there is none yet. */
  readonly answer: object | undefined;
  /** The parameters of the call. */
  readonly parameters?: Parameters;
  /** Whose figures they are. */
  readonly provider: string;
  /** The instant of the figures. */
  readonly asOf: Date | undefined;
  /** The rows as CSV, if they are not those of the service. */
  readonly csv?: string | undefined;
}

/** Shows the button, and what it opens. */
export function Export(props: ExportProps) {
  const { title, method, answer, parameters = {}, provider, asOf, csv } = props;
  if (answer === undefined) return null;
  const rpc: DescMethod = RevenueService.method[method];
  const [writeRows, writeInstances] = (["outer", "contained"] as const).map((rows) =>
    compileCsvWriter(rpc.output, CSV_ROWS[rpc.name], rows),
  );
  const id = `export-${title.toLowerCase()}`;
  const name = (what: string) => fileName(provider, [what, ...Object.values(parameters)], asOf);
  const file = (what: string, write: () => string | undefined) => (
    <button type="button" onClick={() => download(name(what), write() ?? "")}>
      {what} as CSV
    </button>
  );
  return (
    <div class="export">
      <button type="button" popovertarget={id}>
        Export
      </button>
      <div id={id} class="card" popover="auto" role="dialog" aria-label={`Export ${title}`}>
        <div class="section-head">
          <h3>Export: {title.toLowerCase()}</h3>
          <button type="button" popovertarget={id} popovertargetaction="hide">
            Close
          </button>
        </div>
        <div class="buttons">
          {file(title, () => csv ?? writeRows?.(answer as never))}
          {/* A column of a file adds up to the figure of the page: what rows contain has a file of its own. */}
          {writeInstances && file("Instances", () => writeInstances(answer as never))}
        </div>
        <p>
          Or, with your API key in <code>REVENUE_API_KEY</code>:
        </p>
        <pre>{curlCommand(SERVICE_URL, targetOf(rpc, parameters))}</pre>
      </div>
    </div>
  );
}

/** Spreadsheets read a CSV file as UTF-8 if it begins with a byte order mark. */
function download(name: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([`\ufeff${csv}`], { type: "text/csv;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has to start reading it first.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
