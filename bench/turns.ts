/** Load in turns, so that a noisy machine is noisy for all alike. */
import pidusage from "pidusage";

/** Something that can be loaded. */
export interface Peer {
  /** Loads it for some seconds and resolves to how many requests it answered. Throws where one failed. */
  readonly drive: (seconds: number) => Promise<number>;
  /** The processes that answer, without the database. */
  readonly pids: readonly number[];
}

export interface Turns {
  /** Length of one round. */
  readonly seconds: number;
  readonly rounds: number;
}

/** What a peer came to: the median of its rounds. */
export interface Figures {
  readonly perSecond: number;
  /** CPU time per request, in µs: of its own processes, and of the database. */
  readonly cpu: number;
  readonly databaseCpu: number;
}

/** Loads each peer in turn, `rounds` times after a round to warm up. */
export async function inTurns<Name extends string>(
  peers: Readonly<Record<Name, Peer>>,
  databasePid: number,
  { seconds, rounds }: Turns,
): Promise<Record<Name, Figures>> {
  const measured = new Map<string, Figures[]>();
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { drive, pids }] of Object.entries<Peer>(peers)) {
      const before = [await cpuTime(pids), await cpuTime([databasePid])] as const;
      const begun = performance.now();
      const requests = await drive(seconds);
      const took = (performance.now() - begun) / 1_000;
      const after = [await cpuTime(pids), await cpuTime([databasePid])] as const;
      if (round === 0) continue;
      measured
        .getOrInsertComputed(name, () => [])
        .push({
          perSecond: requests / took,
          cpu: (after[0] - before[0]) / requests,
          databaseCpu: (after[1] - before[1]) / requests,
        });
    }
  }
  return Object.fromEntries(
    [...measured].map(([name, figures]) => [name, medianOf(figures)]),
  ) as Record<Name, Figures>;
}

/** What the processes have used so far, in µs. */
async function cpuTime(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map((pid) => pidusage(pid)));
  return used.reduce((sum, { ctime }) => sum + ctime * 1_000, 0);
}

function medianOf(figures: readonly Figures[]): Figures {
  const of = (name: keyof Figures) =>
    quantile(
      figures.map((figure) => figure[name]),
      0.5,
    );
  return { perSecond: of("perSecond"), cpu: of("cpu"), databaseCpu: of("databaseCpu") };
}

/** The value below which that part of all values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
}
