/**
 * What a client sent, made fit for a message: quoted, short, and nothing in it that could
 * act on a terminal or on the direction of the text around it.
 */

/** The longest quote, in code points. */
const LONGEST = 48;

/** Control, format, private-use and unassigned characters, lone surrogates, odd spaces. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The text in double quotes: at most 48 characters of it, then "…"; unseen ones as escapes. */
export function quote(text: string): string {
  // Two code units are enough for any code point, so that a long text is not walked whole.
  const points = [...text.slice(0, 2 * LONGEST + 2)];
  const short = points.length > LONGEST ? `${points.slice(0, LONGEST).join("")}…` : text;
  return `"${short.replace(/["\\]/g, "\\$&").replace(UNSEEN, escapeUnseen)}"`;
}

function escapeUnseen(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
