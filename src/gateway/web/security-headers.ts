/**
 * What a browser may do with the pages: load scripts, styles and images of this origin, send
 * requests to it, and nothing else. A script that got into a page could not send the key away.
 *
 * @see https://www.w3.org/TR/CSP3/
 */
const POLICY: Readonly<Record<string, string>> = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "connect-src": "'self'",
  "img-src": "'self' data:",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

/** Pages whose policy differs, by path. */
const DIFFERENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

/** The headers for the file at a path. */
export function securityHeaders(path: string): Readonly<Record<string, string>> {
  const policy = { ...POLICY, ...DIFFERENCES[path] };
  return {
    "content-security-policy": Object.entries(policy)
      .map((directive) => directive.join(" "))
      .join("; "),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
  };
}
