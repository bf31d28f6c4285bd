/** Takes what is shown elsewhere: a CSV file, a curl command, a TypeScript call. */
import type { DescMethod, MessageShape } from "@bufbuild/protobuf";
import { useEffect, useState } from "preact/hooks";
import { compileCsvWriter } from "../../../src/gateway/transcoding/csv-writer.ts";
import { curlCommand, type Parameters, pathOf, typescriptCall } from "./snippets.ts";

interface ExportBarProps<Method extends DescMethod> {
  /** The name of the file, without its extension. */
  readonly file: string;
  /** The RPC, and the response that is shown. */
  readonly method: Method;
  readonly response: MessageShape<Method["output"]>;
  /** The parameters of the request. */
  readonly parameters: Parameters;
}

/**
 * Shows the three buttons, and what was copied. The CSV is what the service would write of the response
 * that is shown.
 */
export function ExportBar<Method extends DescMethod>({
  file,
  method,
  response,
  parameters,
}: ExportBarProps<Method>) {
  const [copied, setCopied] = useState<{ code: string; done: boolean }>();
  // What was copied asks for what was shown then.
  useEffect(() => setCopied(undefined), [response]);
  const writeCsv = compileCsvWriter(method);
  const { origin } = location;
  const copy = async (code: string) => {
    // The clipboard needs HTTPS or localhost. Without it, people select the text.
    const done = await (navigator.clipboard?.writeText(code) ?? Promise.reject()).then(
      () => true,
      () => false,
    );
    setCopied({ code, done });
  };
  return (
    <div class="export">
      <div class="buttons">
        {writeCsv && (
          <button type="button" onClick={() => download(`${file}.csv`, writeCsv(response))}>
            Download CSV
          </button>
        )}
        <button type="button" onClick={() => copy(curlCommand(origin, pathOf(method), parameters))}>
          Copy curl command
        </button>
        <button
          type="button"
          onClick={() => copy(typescriptCall(origin, method.localName, parameters))}
        >
          Copy TypeScript
        </button>
      </div>
      <div role="status">
        {copied && (
          <div class="copied">
            <div class="copied-head">
              <span>
                {copied.done ? "Copied. " : "Select and copy. "}
                Set <code>REVENUE_API_KEY</code> to your API key.
              </span>
              <button type="button" onClick={() => setCopied(undefined)}>
                Close
              </button>
            </div>
            <pre>{copied.code.trimEnd()}</pre>
          </div>
        )}
      </div>
    </div>
  );
}

function download(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has to start reading it first.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
