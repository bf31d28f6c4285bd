/** The paths that the HTTP port serves: for Fastify's router, and for the match behind a 405. */
import type { Segment } from "./transcoding/path-template.ts";

/** The methods of every path but Connect's. */
export const READ_METHODS = ["GET", "HEAD"] as const;

/** A path of the HTTP port and its methods. */
export interface ServedPath {
  readonly segments: readonly Segment[];
  readonly methods: readonly string[];
}

/** The segments as a path of Fastify's router: `/things/:thing_id`. */
export function routerPath(segments: readonly Segment[]): string {
  return segments
    .map((segment) => ("literal" in segment ? `/${segment.literal}` : `/:${segment.variable}`))
    .join("");
}

/** The scheme and the authority of a request target in absolute form. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** The path of a request target, without its origin and its query: RFC 9112, section 3.2. */
export function pathOf(target: string): string {
  const path = target.replace(ORIGIN, "");
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

/** Whether a request path matches the segments. */
export function matches(segments: readonly Segment[], path: string): boolean {
  // No more pieces than are compared: a path may be 16 KiB of slashes.
  const pieces = path.split("/", segments.length + 2).slice(1);
  return (
    pieces.length === segments.length &&
    segments.every((segment, index) =>
      "literal" in segment ? decoded(pieces[index]) === segment.literal : pieces[index] !== "",
    )
  );
}

/** A piece of a path without its percent-encoding, which the router has found valid. */
function decoded(piece = ""): string {
  return piece.includes("%") ? decodeURIComponent(piece) : piece;
}
