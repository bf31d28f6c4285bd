/** The README, taken apart: its fenced blocks, the commands in them, and its tables. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** A file of the repository's root, as text. */
export function rootFile(name: string): string {
  return readFileSync(join(ROOT, name), "utf8");
}

export const readme = rootFile("README.md");

/** A fenced block. */
export interface Block {
  /** What stands behind the fence: `console`, `json`, `sql`. */
  readonly language: string;
  readonly text: string;
}

export const blocks: readonly Block[] = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, language = "", text = ""]) => ({ language, text }),
);

/** The texts of the blocks of a language that a mark occurs in, in order. */
export function blocksWith(language: string, mark: string): string[] {
  return blocks
    .filter((block) => block.language === language && block.text.includes(mark))
    .map(({ text }) => text);
}

/** The text of the only such block. */
export function blockWith(language: string, mark: string): string {
  const [text, ...others] = blocksWith(language, mark);
  if (text === undefined || others.length > 0) {
    throw new Error(`the README does not have one ${language} block with "${mark}"`);
  }
  return text;
}

/** A command of a `console` block. */
export interface Command {
  /** As it would be pasted, line ends included. */
  readonly text: string;
  /** The JSON block that follows it, its answer. */
  readonly example: string | undefined;
}

/** Every command of the `console` blocks. */
export const commands: readonly Command[] = blocks.flatMap((block, index) => {
  if (block.language !== "console") return [];
  const next = blocks[index + 1];
  const typed = [...block.text.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, text = ""]) => text);
  // An answer stands beside one command, with nothing printed between them.
  const example = next?.language === "json" && typed.length === 1 ? next.text : undefined;
  return typed.map((text) => ({ text, example: isRequest(text) ? example : undefined }));
});

/** Commands with the names of their tests: each on one line. */
export function named(commands: readonly Command[]): [name: string, command: Command][] {
  return commands.map((command) => [command.text.replaceAll(/\s*\\\n\s*/g, " "), command]);
}

/** Whether a command asks the service something. */
export function isRequest(command: string): boolean {
  return /^(curl|npx buf curl) /.test(command);
}

/** The rows of the table with these headings, each cell as it is written. */
export function tableWith(...headings: readonly string[]): string[][] {
  const lines = readme.split("\n");
  const start = lines.findIndex((line) => cellsOf(line).join("|") === headings.join("|"));
  if (start === -1) throw new Error(`the README has no table | ${headings.join(" | ")} |`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map(cellsOf);
}

function cellsOf(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The `code` of a text of Markdown. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** The README's text between a heading and the next one of its level. */
export function section(heading: string): string {
  const [, text] = readme.split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`the README has no section "${heading}"`);
  return text.split("\n## ")[0] ?? "";
}
