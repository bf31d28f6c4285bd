/** Takes what is shown elsewhere: a CSV file, a curl command, a TypeScript call. */
import { useState } from "preact/hooks";
import { curlCommand, type Parameters, typescriptCall } from "./snippets.ts";

interface ExportBarProps {
  /** The name of the file, without its extension. */
  readonly file: string;
  /** Writes the file. */
  readonly csv: () => string;
  /** The path of the REST API, and the method of the client, that return the same. */
  readonly path: string;
  readonly method: string;
  readonly parameters: Parameters;
}

/** Shows the three buttons, and what was copied. */
export function ExportBar({ file, csv, path, method, parameters }: ExportBarProps) {
  const [copied, setCopied] = useState<{ code: string; done: boolean }>();
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
        <button type="button" onClick={() => download(`${file}.csv`, csv())}>
          Download CSV
        </button>
        <button type="button" onClick={() => copy(curlCommand(origin, path, parameters))}>
          Copy curl command
        </button>
        <button type="button" onClick={() => copy(typescriptCall(origin, method, parameters))}>
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
