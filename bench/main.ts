/** `npm run bench`: the benchmarks. Every figure stands beside another that was measured in the same run. */
import { Command } from "commander";
import { benchPeers } from "./peers.ts";
import { benchScale } from "./scale.ts";

const program = new Command("bench").description("Benchmarks on a private database");

program
  .command("peers", { isDefault: true })
  .description("requests per second and CPU per request, beside what one might have instead")
  .option("--seconds <n>", "length of one round of load", Number, 3)
  .option("--rounds <n>", "rounds for each, taken in turns", Number, 5)
  .option("--connections <n>", "kept-alive connections", Number, 32)
  .option("--charges <n>", "charges of the provider with 200 servers", Number, 500_000)
  .action(benchPeers);

program
  .command("scale")
  .description("the same questions to ledgers of more and more charges")
  .option(
    "--charges <list>",
    "sizes, the smallest first",
    (list: string) => list.split(",").map(Number),
    [50_000, 500_000, 5_000_000],
  )
  .option("--requests <n>", "requests of each kind to each ledger", Number, 200)
  .action(benchScale);

await program.parseAsync();
