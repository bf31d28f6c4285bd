/** Measures peers in interleaved rounds, so that noise on the machine affects all of them alike. */
import pidusage from "pidusage";

/** A load generator and the processes that it loads. */
export interface Peer {
  /** Generates load and resolves to the number of responses. Throws if a request failed. */
  readonly load: (seconds: number) => Promise<number>;
  /** The peer's processes, without the database. */
  readonly pids: readonly number[];
}

/** The length and number of rounds. */
export interface Rounds {
  /** The length of a round in seconds. */
  readonly seconds: number;
  readonly rounds: number;
}

/** The throughput and cost of a peer. */
export interface Measurement {
  readonly requestsPerSecond: number;
  /** CPU time per request of the peer's processes, in µs. */
  readonly cpu: number;
  /** CPU time per request of the database, in µs. */
  readonly databaseCpu: number;
}

/** Measures each peer once per round, after a warm-up round. Resolves to the medians. */
export async function measureInRounds<Name extends string>(
  peers: Readonly<Record<Name, Peer>>,
  databasePid: number,
  { seconds, rounds }: Rounds,
): Promise<Record<Name, Measurement>> {
  const samples = new Map<string, Measurement[]>();
  for (let round = 0; round <= rounds; round++) {
    for (const [name, peer] of Object.entries<Peer>(peers)) {
      const sample = await measure(peer, databasePid, seconds);
      if (round > 0) samples.getOrInsertComputed(name, () => []).push(sample);
    }
  }
  return Object.fromEntries([...samples].map(([name, all]) => [name, median(all)])) as Record<
    Name,
    Measurement
  >;
}

/** Measures a peer once. */
export async function measure(
  { load, pids }: Peer,
  databasePid: number,
  seconds: number,
): Promise<Measurement> {
  const cpuBefore = await cpuTime(pids);
  const databaseBefore = await cpuTime([databasePid]);
  const startedAt = performance.now();
  const requests = await load(seconds);
  const elapsed = (performance.now() - startedAt) / 1_000;
  return {
    requestsPerSecond: requests / elapsed,
    cpu: ((await cpuTime(pids)) - cpuBefore) / requests,
    databaseCpu: ((await cpuTime([databasePid])) - databaseBefore) / requests,
  };
}

/** The CPU time that the processes have used, in µs. */
export async function cpuTime(pids: readonly number[]): Promise<number> {
  const usages = await Promise.all(pids.map((pid) => pidusage(pid)));
  return usages.reduce((sum, { ctime }) => sum + ctime * 1_000, 0);
}

function median(samples: readonly Measurement[]): Measurement {
  const of = (name: keyof Measurement) =>
    quantile(
      samples.map((sample) => sample[name]),
      0.5,
    );
  return {
    requestsPerSecond: of("requestsPerSecond"),
    cpu: of("cpu"),
    databaseCpu: of("databaseCpu"),
  };
}

/** The quantile of the values, for a fraction from 0 to 1: 0.5 is the median. NaN without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * fraction)] ?? Number.NaN;
}
