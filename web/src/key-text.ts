/** The API key in a text that a person pasted. */

/** The form of a key (`src/auth/api-key.ts`), with nothing right before or behind that could belong to it. */
const KEYS = /(?<![\p{L}\p{N}])rvk_[0-9A-Za-z]{49}(?![\p{L}\p{N}])/gu;

/**
 * The key that a text has, whatever stands around it: quotes, `Bearer`, the name of a header or of a variable.
 * Characters that nobody sees, which come along when somebody copies from a chat or a document, do not
 * count. Undefined if there is none, or more than one.
 */
export function keyIn(text: string): string | undefined {
  const visible = text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  const [key, another] = new Set(visible.match(KEYS));
  return another === undefined ? key : undefined;
}
