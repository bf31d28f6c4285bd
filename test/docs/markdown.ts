/** The documentation, parsed: the fenced blocks of its Markdown files, their commands, tables and sections. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** The text of a file, by its path from the root of the repository. */
export function rootFile(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** A Markdown file. */
export interface Page {
  /** From the root of the repository: `docs/api.md`. */
  readonly path: string;
  readonly text: string;
}

/** The pages of the documentation. The changelog is not one of them: it describes the past. */
export const pages: readonly Page[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
].map((path) => ({ path, text: rootFile(path) }));

/** The text of a page. Throws if there is no page at the path. */
export function page(path: string): string {
  const found = pages.find((one) => one.path === path);
  if (found === undefined) throw new Error(`there is no page ${path}`);
  return found.text;
}

/** The text of a page without its fenced blocks. */
export function proseOf(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** A fenced block. */
export interface Block {
  /** The word after the fence: `console`, `json`, `sql`. */
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a text, in order. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", content = ""]) => ({ language, text: content }),
  );
}

/** The blocks of all pages, in order. */
export const blocks: readonly Block[] = pages.flatMap(({ text }) => blocksOf(text));

/** The texts of the blocks of a language that contain `mark`, in order. */
export function blocksWith(language: string, mark: string): string[] {
  return blocks
    .filter((block) => block.language === language && block.text.includes(mark))
    .map(({ text }) => text);
}

/** The text of the first such block. Throws if there is none. */
export function blockWith(language: string, mark: string): string {
  const [text] = blocksWith(language, mark);
  if (text === undefined) throw new Error(`no page has a ${language} block with "${mark}"`);
  return text;
}

/** A command of a `console` block. */
export interface Command {
  /** As it would be pasted, line ends included. */
  readonly text: string;
  /** The JSON block that follows a request, its response. */
  readonly example: string | undefined;
}

/** The commands of all `console` blocks. */
export const commands: readonly Command[] = blocks.flatMap((block, index) => {
  if (block.language !== "console") return [];
  const next = blocks[index + 1];
  const typed = [...block.text.matchAll(/^\$ ((?:.*\\\n)*.*?)(?: +#.*)?$/gm)].map(
    ([, text = ""]) => text,
  );
  // A response follows a block of one command.
  const example = next?.language === "json" && typed.length === 1 ? next.text : undefined;
  return typed.map((text) => ({ text, example: isRequest(text) ? example : undefined }));
});

/** Commands with names for their tests: each on one line. */
export function named(commands: readonly Command[]): [name: string, command: Command][] {
  return commands.map((command) => [command.text.replaceAll(/\s*\\\n\s*/g, " "), command]);
}

/** Whether a command sends a request to the service. */
export function isRequest(command: string): boolean {
  return /^(curl|npx buf curl) /.test(command);
}

/**
 * The rows of the first table of a text with these headings: each cell as it is written. Throws if
 * there is none.
 */
export function tableIn(text: string, ...headings: readonly string[]): string[][] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => cellsOf(line).join("|") === headings.join("|"));
  if (start === -1) throw new Error(`there is no table | ${headings.join(" | ")} |`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map(cellsOf);
}

/** The same, of all pages. */
export function tableWith(...headings: readonly string[]): string[][] {
  return tableIn(pages.map(({ text }) => text).join("\n"), ...headings);
}

function cellsOf(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The `code` in a text of Markdown. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** The text between a heading of the second level and the next one. Throws if there is no such heading. */
export function section(path: string, heading: string): string {
  const [, text] = page(path).split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`${path} has no section "${heading}"`);
  return text.split("\n## ")[0] ?? "";
}
