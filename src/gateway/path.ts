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

/** The path of a request target, without its query: RFC 9112, section 3.2. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
}

/** Whether a request path matches the segments. */
export function matches(segments: readonly Segment[], path: string): boolean {
  // No more pieces than are compared: a path may be 16 KiB of slashes.
  const pieces = path.split("/", segments.length + 2).slice(1);
  return (
    pieces.length === segments.length &&
    segments.every((segment, index) =>
      "literal" in segment ? pieces[index] === segment.literal : pieces[index] !== "",
    )
  );
}
