/**
 * `npm run mutants -- FOLDER…`: how strong the tests are. Makes small faults in the code below the folders,
 * one at a time, in a copy of the tree, and runs the tests that import the file: first `test/unit`, then
 * `test/database`, at last tests of a process, which import nothing (`--process`). Whatever stays
 * undetected is printed, and fails the run: it is a missing test, or code that nobody needs, or it belongs
 * into `dev/mutants/survivors.ts`, with its reason.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createCommand } from "../src/cli/command.ts";
import { type Mutant, mutantsOf } from "./mutants/mutations.ts";
import { sample } from "./mutants/sample.ts";
import { reasonOf } from "./mutants/survivors.ts";
import { copyTree, type TreeCopy } from "./mutants/tree-copy.ts";
import { TIME_LIMIT } from "./time-limit.ts";

const ROOT = join(import.meta.dirname, "..");

const command = createCommand("npm run mutants", "Tries how strong the tests are.")
  .argument("<folder...>", "such as src/rpc src/auth")
  .option("--count <number>", "how many mutants, chosen by the seed; 0 for all", Number, 60)
  .option("--seed <number>", "another seed, other mutants", Number, 1)
  .option("--process <path...>", "tests of a process, for what the others have not found", [])
  .option("--only <text>", "only chosen mutants that have this text in their report", "")
  .option("--list", "print them only")
  .parse();
const folders = command.args;
const options = command.opts<{
  readonly count: number;
  readonly seed: number;
  readonly process: readonly string[];
  readonly only: string;
  readonly list?: boolean;
}>();

const sources = new Map(
  folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))
    .sort()
    .map((path) => [path, readFileSync(join(ROOT, path), "utf8")]),
);
const all = [...sources].flatMap(([path, text]) => mutantsOf(path, text));
const count = options.count || all.length;
const chosen = sample(all, count, options.seed).filter((mutant) =>
  describe(mutant).includes(options.only),
);
console.log(`${chosen.length} of ${all.length} mutants of ${sources.size} files`);

if (options.list) {
  for (const mutant of chosen) console.log(describe(mutant));
} else if (chosen.length > 0) {
  await tryAll();
} else {
  console.error("nothing to try");
  process.exitCode = 1;
}

/** Tries the mutants one by one, and prints what became of each, and of all. */
async function tryAll(): Promise<void> {
  const copy = copyTree();
  const counts = { found: 0, known: 0 };
  const undetected: string[] = [];
  const stages = await measured(copy);
  for (const mutant of chosen) {
    const reason = reasonOf(mutant);
    const failed = reason === undefined ? await tryOne(copy, stages, mutant) : undefined;
    if (reason !== undefined) counts.known++;
    else if (failed !== undefined) counts.found++;
    else undetected.push(describe(mutant));
    const result = reason === undefined ? (failed ?? "UNDETECTED") : `known: ${reason}`;
    console.log(`${describe(mutant)}\n    ${result}`);
  }
  await copy.remove();
  console.log(["", "undetected:", ...undetected].join("\n"));
  console.log(`${counts.found} found, ${counts.known} known, ${undetected.length} undetected`);
  if (undetected.length > 0) process.exitCode = 1;
}

/** Tests of one kind, and how long they may take, in ms. */
interface Stage {
  args(paths: readonly string[]): readonly string[];
  readonly limit: number;
}

/** The runs of the tests for a mutant, with their limits: from how long they take without one. */
async function measured(copy: TreeCopy): Promise<Stage[]> {
  const related = (project: string) => (paths: readonly string[]) => [
    "related",
    "--run",
    ...paths,
    "--project",
    project,
    "--exclude",
    "test/{docs,end-to-end}/**",
  ];
  const ofProcess = () => ["run", ...options.process];
  const kinds = [
    related("unit"),
    related("service"),
    ...(options.process.length > 0 ? [ofProcess] : []),
  ];
  const paths = [...new Set(chosen.map(({ path }) => path))];
  const stages: Stage[] = [];
  for (const args of kinds) {
    const { failed, output, milliseconds } = await copy.test(args(paths), TIME_LIMIT);
    if (failed !== undefined) throw new Error(`without a mutant: ${failed}\n${output}`);
    console.log(`without a mutant: ${(milliseconds / 1_000).toFixed(0)} s`);
    stages.push({ args, limit: 2 * milliseconds + TIME_LIMIT / 10 });
  }
  return stages;
}

/** The test that finds the mutant; undefined if none does. */
async function tryOne(
  copy: TreeCopy,
  stages: readonly Stage[],
  { path, text }: Mutant,
): Promise<string | undefined> {
  copy.write(path, text);
  try {
    for (const { args, limit } of stages) {
      const { failed } = await copy.test(args([path]), limit);
      if (failed !== undefined) return failed;
    }
    return undefined;
  } finally {
    copy.write(path, sources.get(path) ?? "");
  }
}

function describe({ path, line, operator, before, after }: Mutant): string {
  return `${path}:${line} ${operator}: ${before}  →  ${after}`;
}
