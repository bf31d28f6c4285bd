/**
 * A plugin of Swagger UI that shows answers with the very digits of the service. By itself it turns
 * JSON numbers into floating-point numbers and back: `2.50` would be shown as `2.5`.
 */
import type { System } from "./requests-layout.ts";

/** Replaces the component that shows the body of an answer. */
export function exactAnswers({ React }: System) {
  const responseBody = () => (props: { readonly content?: unknown }) =>
    React.createElement(
      "pre",
      { className: "microlight answer", tabIndex: 0 },
      indent(`${props.content ?? ""}`),
    );
  return { wrapComponents: { responseBody } };
}

/** Indents a JSON text. Any other text, and one that the browser cannot indent exactly, stays as it is. */
export function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, keepDigits), undefined, 2);
  } catch {
    return text;
  }
}

/** `JSON.rawJSON` and `source` are younger than TypeScript's types of them. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? rawJSON(context?.source ?? "") : value;
}
