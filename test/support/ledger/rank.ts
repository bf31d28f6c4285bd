/** The order of servers and instances, told another way than the service does. */
interface Ranked {
  readonly gross: bigint;
  readonly name: string;
  readonly id: bigint;
}

/** By revenue descending, then by name (its bytes in UTF-8, as the database sorts), then by id. */
export function inOrder<Thing extends Ranked>(things: readonly Thing[]): Thing[] {
  return things
    .toSorted((a, b) => sign(a.id - b.id))
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .toSorted((a, b) => sign(b.gross - a.gross));
}

function sign(difference: bigint): number {
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
