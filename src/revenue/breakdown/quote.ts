/**
 * Quotes a request's text in an error message. The result is a single line of visible characters,
 * so that it cannot control a terminal or reorder the text around it. It equals the quotes of the
 * REST transcoder, which may not share code with the service.
 */

/** The maximum length, in code points. */
const MAX_LENGTH = 48;

/** Control, format, private-use and unassigned characters, lone surrogates, spaces except U+0020. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The text in double quotes: invisible characters as `\u{…}`, what exceeds 48 characters as "…". */
export function quote(text: string): string {
  const start = [...text.slice(0, 2 * MAX_LENGTH + 2)]; // a code point has at most two code units
  const short = start.length > MAX_LENGTH ? `${start.slice(0, MAX_LENGTH).join("")}…` : text;
  return `"${short.replace(/["\\]/g, "\\$&").replace(INVISIBLE, escapeInvisible)}"`;
}

function escapeInvisible(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
