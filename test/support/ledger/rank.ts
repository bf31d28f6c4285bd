/** The expected order of servers and instances, computed by stable sorts. */
interface Rankable {
  readonly gross: bigint;
  readonly name: string;
  readonly id: bigint;
}

/** Sorts by gross descending, then by the name's UTF-8 bytes, then by id. */
export function ranked<Item extends Rankable>(items: readonly Item[]): Item[] {
  return items
    .toSorted((a, b) => sign(a.id - b.id))
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .toSorted((a, b) => sign(b.gross - a.gross));
}

function sign(difference: bigint): number {
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
