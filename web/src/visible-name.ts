/** The name of a server or an instance, which is a text that anybody may have written. */

/** Characters that turn the order of what follows, and control characters. Marks of direction stay: names have them. */
const TURNING = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;
const BLANK = /^[\s\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** A name as it is shown: what would turn its text round is `�`, and of blanks alone is its id. */
export function visibleName(name: string, id: string): string {
  return BLANK.test(name) ? id : name.replaceAll(TURNING, "\ufffd");
}
