/** The paths that the HTTP port serves. */

/** The methods of every path but Connect's. */
export const READ_METHODS = ["GET", "HEAD"] as const;

/** A path of the HTTP port and its methods. */
export interface ServedPath {
  readonly path: string;
  readonly methods: readonly string[];
}

/** The scheme and the authority of a request target in absolute form. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** The path of a request target, without its origin and its query: RFC 9112, section 3.2. */
export function pathOf(target: string): string {
  const path = target.replace(ORIGIN, "");
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}
