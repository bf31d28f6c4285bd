/**
 * Path templates of `google.api.http` annotations, parsed into segments.
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
 * Supported are literals, and variables that match one segment and name one field. Anything else
 * is an error, so that no template is served differently from what it says.
 *
 * @see https://github.com/googleapis/googleapis/blob/master/google/api/http.proto
 */

/** A path segment: literal text, or the proto name of the field that it is bound to. */
export type Segment = { readonly literal: string } | { readonly variable: string };

/** RFC 3986's unreserved characters, which need no percent-encoding. */
const LITERAL = /^[A-Za-z0-9._~-]+$/;
const IDENT = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The segments of a path template, from left to right. Throws an Error that says what is wrong at
 * which position (in characters from 0).
 */
export function parsePathTemplate(template: string): readonly Segment[] {
  if (!template.startsWith("/")) fail('a template must start with "/"', template, 0);
  const segments: Segment[] = [];
  let position = 1;
  for (const piece of template.slice(1).split("/")) {
    segments.push(scanSegment(piece, position));
    position += piece.length + 1;
  }
  rejectDuplicates(segments);
  return segments;
}

function scanSegment(piece: string, position: number): Segment {
  if (piece === "") return fail("empty segments are not supported", piece, position);
  if (piece === "." || piece === "..") {
    return fail("dot segments are not supported: clients resolve them", piece, position);
  }
  if (LITERAL.test(piece)) return { literal: piece };
  if (piece === "*" || piece === "**") return fail("wildcards are not supported", piece, position);
  if (piece.startsWith("{")) return scanVariable(piece, position);
  const at = piece.search(/[^A-Za-z0-9._~-]/);
  const reason =
    piece[at] === ":"
      ? "verbs are not supported"
      : "a literal must consist of letters, digits and -._~";
  return fail(reason, piece.slice(at), position + at);
}

function scanVariable(piece: string, position: number): Segment {
  const end = piece.indexOf("}");
  const inside = piece.slice(1, end === -1 ? undefined : end);
  const rest = end === -1 ? "" : piece.slice(end + 1);
  if (end === -1 && !inside.includes("=")) {
    return fail("unclosed variable", piece, position);
  }
  if (IDENT.test(inside)) {
    if (rest === "") return { variable: inside };
    const reason = rest.startsWith(":")
      ? "verbs are not supported"
      : "a variable must be a whole segment";
    return fail(reason, rest, position + end + 1);
  }
  const at = Math.max(inside.search(/[^A-Za-z0-9_]/), 0);
  const reason =
    inside[at] === "="
      ? "variable patterns are not supported"
      : inside[at] === "."
        ? "nested field paths are not supported"
        : "invalid field name";
  return fail(reason, inside.slice(at), position + 1 + at);
}

function rejectDuplicates(segments: readonly Segment[]): void {
  const names = segments.flatMap((segment) => ("variable" in segment ? [segment.variable] : []));
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new Error(`the variable "${duplicate}" is repeated`);
}

function fail(reason: string, piece: string, position: number): never {
  throw new Error(`${reason}: "${piece}" at position ${position}`);
}
