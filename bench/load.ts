/** Load over HTTP: rounds taken in turns, so that a noisy machine is noisy for all alike. */
import autocannon from "autocannon";

export interface Load {
  /** Length of one round. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

/**
 * Loads each peer in turn, `rounds` times after a round to warm up, and resolves to the median
 * of each peer's requests per second.
 *
 * @throws Error where an answer was not a 200
 */
export async function loadInTurns<Name extends string>(
  peers: Readonly<Record<Name, { readonly url: string }>>,
  path: string,
  key: string,
  { seconds, rounds, connections }: Load,
): Promise<Record<Name, number>> {
  const names = Object.keys(peers) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    number[]
  >;
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const result = await autocannon({
        url: peers[name].url + path,
        headers: { "x-api-key": key },
        duration: seconds,
        connections,
      });
      if (result.non2xx + result.errors > 0) {
        throw new Error(`${name}: ${result.non2xx} answers were not 200, ${result.errors} failed`);
      }
      if (round > 0) rates[name].push(result.requests.total / result.duration);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(rates[name])])) as Record<
    Name,
    number
  >;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
