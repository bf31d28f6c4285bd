/** Route paths for Fastify's router, and the match behind a 405 response. */
import type { Segment } from "../transcoding/path-template.ts";

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
  const pieces = path.split("/").slice(1);
  return (
    pieces.length === segments.length &&
    segments.every((segment, index) =>
      "literal" in segment ? pieces[index] === segment.literal : pieces[index] !== "",
    )
  );
}
