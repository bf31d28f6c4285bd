/**
 * Path templates of `google.api.http` annotations: text to segments.
 *
 * The grammar, from google/api/http.proto (lines 221 to 226 in npm's google-proto-files 6.0.1):
 *
 *     Template = "/" Segments [ Verb ] ;
 *     Segments = Segment { "/" Segment } ;
 *     Segment  = "*" | "**" | LITERAL | Variable ;
 *     Variable = "{" FieldPath [ "=" Segments ] "}" ;
 *     FieldPath = IDENT { "." IDENT } ;
 *     Verb     = ":" LITERAL ;
 *
 * Served is the part of it that needs no further rules: literals, and variables that stand
 * for one whole segment and name one field. The rest is refused with the piece and its
 * position, so that a template is either served as its author meant it or not at all.
 *
 * @see https://github.com/googleapis/googleapis/blob/master/google/api/http.proto
 */

/** One segment of a path: text to be met exactly, or the proto name of the field it fills. */
export type Segment = { readonly literal: string } | { readonly variable: string };

/** RFC 3986's unreserved characters: what needs no percent-encoding and has no other meaning. */
const LITERAL = /^[A-Za-z0-9._~-]+$/;
const IDENT = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The segments of a path template, from left to right. Throws an Error whose message names
 * the offending piece and its position (characters from the template's start, from 0).
 */
export function parsePathTemplate(template: string): readonly Segment[] {
  if (!template.startsWith("/")) refuse('a template starts with "/"', template, 0);
  const segments: Segment[] = [];
  let position = 1;
  for (const piece of template.slice(1).split("/")) {
    segments.push(scanSegment(piece, position));
    position += piece.length + 1;
  }
  refuseTwice(segments);
  return segments;
}

function scanSegment(piece: string, position: number): Segment {
  if (piece === "") return refuse("an empty segment is not served", piece, position);
  if (piece === "." || piece === "..") {
    return refuse("clients resolve dot segments away", piece, position);
  }
  if (LITERAL.test(piece)) return { literal: piece };
  if (piece === "*" || piece === "**") return refuse("wildcards are not served", piece, position);
  if (piece.startsWith("{")) return scanVariable(piece, position);
  const at = piece.search(/[^A-Za-z0-9._~-]/);
  const reason = piece[at] === ":" ? "verbs are not served" : REASONS.character;
  return refuse(reason, piece.slice(at), position + at);
}

function scanVariable(piece: string, position: number): Segment {
  const end = piece.indexOf("}");
  const inside = piece.slice(1, end === -1 ? undefined : end);
  const rest = end === -1 ? "" : piece.slice(end + 1);
  if (end === -1 && !inside.includes("=")) {
    return refuse("a variable ends in its own segment", piece, position);
  }
  if (IDENT.test(inside)) {
    if (rest === "") return { variable: inside };
    const reason = rest.startsWith(":") ? "verbs are not served" : REASONS.whole;
    return refuse(reason, rest, position + end + 1);
  }
  const at = Math.max(inside.search(/[^A-Za-z0-9_]/), 0);
  const reason =
    inside[at] === "="
      ? "patterns of variables are not served"
      : inside[at] === "."
        ? "fields of fields are not served"
        : "a variable is named like a field";
  return refuse(reason, inside.slice(at), position + 1 + at);
}

const REASONS = {
  character: "a literal segment consists of letters, digits and -._~",
  whole: "a variable is a whole segment",
};

function refuseTwice(segments: readonly Segment[]): void {
  const names = segments.flatMap((segment) => ("variable" in segment ? [segment.variable] : []));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`the variable "${twice}" occurs twice`);
}

function refuse(reason: string, piece: string, position: number): never {
  throw new Error(`${reason}: "${piece}" at position ${position}`);
}
