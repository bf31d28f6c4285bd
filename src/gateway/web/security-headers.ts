/**
 * What a browser may do with the pages: load scripts, styles and images of this origin, send
 * requests to it, and nothing else. A script that got into a page could not send the key away.
 *
 * @see https://www.w3.org/TR/CSP3/
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** The headers of every file. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY.join("; "),
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
};
