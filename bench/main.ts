/** `npm run bench`: the benchmarks. Every figure stands beside another that was measured in the same run. */
import { Command } from "commander";
import { benchOverview } from "./overview.ts";

const program = new Command("bench").description("Benchmarks on a private database");

program
  .command("overview", { isDefault: true })
  .description("REST overview of a small provider, beside a hand-written route and the limit")
  .option("--seconds <n>", "length of one round of load", Number, 3)
  .option("--rounds <n>", "rounds for each, taken in turns", Number, 5)
  .option("--connections <n>", "kept-alive connections", Number, 32)
  .action(benchOverview);

await program.parseAsync();
