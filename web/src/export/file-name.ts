/** The names of files that the page gives. They hold the provider's name, which anybody may have written. */

/** Neither a letter, nor a digit, nor a mark of one. */
const UNSAFE = /[^\p{L}\p{N}\p{M}]+/gu;
/** How many characters of a provider's name a file has: a name of a file may have 255 bytes. */
const MAX = 40;

/** A provider's name as a part of a file's: letters and digits of any script, joined by `-`. Empty if it has none. */
export function safeName(name: string): string {
  const words = name.normalize("NFC").replaceAll(UNSAFE, "-").replace(/^-/, "");
  return [...words].slice(0, MAX).join("").replace(/-$/, "");
}

/** The name of a CSV file: whose it is, what it holds, of which days in which zone, and of which day the figures are. */
export function fileName(
  provider: string,
  parts: readonly string[],
  asOf: Date | undefined,
): string {
  const day = asOf?.toJSON().slice(0, 10);
  const name = ["revenue", safeName(provider), ...parts, "as-of", day].filter(
    (part) => part !== "",
  );
  return `${name.join("_").replaceAll("/", "-")}.csv`;
}
