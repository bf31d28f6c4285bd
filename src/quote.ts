/** Client input in error messages: quoted, shortened and without invisible characters. */

/** The longest quote, in code points. */
const MAX_LENGTH = 48;

/** Control, format, private-use and unassigned characters, lone surrogates, spaces but " ". */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The start of an API key, as its hint shows it, and what follows. */
const KEY = /(rv[ks]_\w{0,4})\w*…?/gi;

/** The text in double quotes, as an excerpt. */
export function quote(text: string): string {
  return `"${cut(text).replace(/["\\]/g, "\\$&").replace(INVISIBLE, escapeCodePoint)}"`;
}

/**
 * The first 48 characters of a text, then "…" if there are more. Characters that could act on a terminal, or
 * on the direction of text, become escapes. A key in the wrong place is cut to its hint, because messages
 * are logged.
 */
export function excerpt(text: string): string {
  return cut(text).replace(INVISIBLE, escapeCodePoint);
}

function cut(text: string): string {
  // A code point has at most two code units. A long text is not split as a whole.
  const points = [...text.slice(0, 2 * MAX_LENGTH + 2)];
  const start = points.length > MAX_LENGTH ? `${points.slice(0, MAX_LENGTH).join("")}…` : text;
  return start.replace(KEY, (key, hint) => (key === hint ? key : `${hint}…`));
}

function escapeCodePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
