/** Counts the words of the pages and their long sentences. A report: whoever reads at 3 a.m. decides what is too long. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CheckResult, ROOT } from "./tool.ts";

/** A sentence with more words is hard to read. */
const LONG = 40;

/** Prints words, long sentences and the median length of a sentence. Always passes. */
export async function countSentences(): Promise<CheckResult> {
  const files = execFileSync("git", ["ls-files", "*.md"], { cwd: ROOT, encoding: "utf8" });
  const pages = files.split("\n").filter((path) => path !== "" && path !== "CHANGELOG.md");
  const texts = pages.map((path) => readFileSync(join(ROOT, path), "utf8"));
  const words = texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
  const lengths = texts.flatMap(sentencesOf).map((sentence) => wordsOf(sentence).length);
  const median = lengths.toSorted((a, b) => a - b)[lengths.length >> 1] ?? 0;
  const long = lengths.filter((length) => length > LONG).length;
  const note = `${words} words, ${long} sentences of more than ${LONG}, median ${median}`;
  return { outcome: "passed", note, output: "" };
}

const wordsOf = (text: string): string[] => text.match(/\S+/g) ?? [];

/** The sentences of a page: cells of tables and entries of lists count each for themselves. */
function sentencesOf(text: string): string[] {
  return text
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .split(/\n\s*\n|\n(?=[-*|#]|\d+\. )|\|/)
    .flatMap((block) => block.split(/(?<=[.!?:;][)"*]*)\s+(?=[A-Z`["(*])/))
    .filter((sentence) => wordsOf(sentence).length > 2);
}
