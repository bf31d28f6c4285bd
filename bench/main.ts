/** `npm run bench`: the benchmarks. Each figure comes with one of a peer from the same run. */
import { createCommand } from "../src/cli/command.ts";
import { benchPeers } from "./peers.ts";
import { benchRelease } from "./release.ts";
import { benchScale } from "./scale.ts";

const program = createCommand("npm run bench", "Benchmarks on a private database.");

program
  .command("peers", { isDefault: true })
  .description("compares requests per second and CPU time per request with alternatives")
  .option("--seconds <n>", "length of a round", Number, 3)
  .option("--rounds <n>", "rounds per peer, interleaved", Number, 5)
  .option("--connections <n>", "keep-alive connections", Number, 32)
  .option("--charges <n>", "charges of the provider with 200 servers", Number, 500_000)
  .action(benchPeers);

program
  .command("scale")
  .description("compares the latency of requests on ledgers of different sizes")
  .option(
    "--charges <list>",
    "charges per ledger, in ascending order",
    (list: string) => list.split(",").map(Number),
    [50_000, 500_000, 5_000_000],
  )
  .option("--servers <n>", "servers, each with four instances", Number, 200)
  .option("--requests <n>", "measured requests of each kind per ledger", Number, 200)
  .option("--warm-up <n>", "requests of each kind per ledger before these", Number, 30)
  .action(benchScale);

program
  .command("release")
  .description("compares CPU time of each RPC, and of runs of the rollups, with the last release")
  .option("--seconds <n>", "for which calls are measured, in all", Number, 12)
  .option("--rounds <n>", "rounds of each kind, in turns", Number, 3)
  .option("--limit <n>", "seconds after which no further round begins", Number, 45)
  .option("--charges <n>", "charges of the provider, with 20 servers", Number, 40_000)
  .action(benchRelease);

await program.parseAsync();
