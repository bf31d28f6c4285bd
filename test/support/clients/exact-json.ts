/** JSON whose numbers keep the digits that they are written with: 5.00 is not 5. */

/** Parses JSON. Each number is what `number` makes of its digits. */
export function parseNumbers(text: string, number: (digits: string) => unknown) {
  return JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? number(context?.source ?? "") : value,
  );
}
