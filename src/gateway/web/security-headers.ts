/**
 * What a browser may do with the pages: run the scripts and use the styles that are in them, send requests to
 * this origin, and nothing else. A script that got into a page would not run, and could not send the key away.
 *
 * @see https://www.w3.org/TR/CSP3/
 */
import { hash } from "node:crypto";

/** The policy of a file. What is in a page is named by its hash. */
function policyOf(text: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashesOf("script", text)}`,
    `style-src ${hashesOf("style", text)}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The hashes of all elements of a name, as a browser makes them: it reads CR LF as LF. */
function hashesOf(element: "script" | "style", text: string): string {
  const contents = text.matchAll(new RegExp(`<${element}\\b[^>]*>(.*?)</${element}>`, "gs"));
  const hashes = [...contents].map(([, content = ""]) => {
    return `'sha256-${hash("sha256", content.replaceAll("\r\n", "\n"), "base64")}'`;
  });
  return hashes.join(" ") || "'none'";
}

/** The headers of a file. */
export function securityHeaders(body: Buffer): Readonly<Record<string, string>> {
  return {
    "content-security-policy": policyOf(body.toString()),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
  };
}
