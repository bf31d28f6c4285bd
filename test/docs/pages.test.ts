/** The README is short, and the documentation refers only to what exists. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeIn, type Page, page, pages, proseOf, ROOT, rootFile } from "./markdown.ts";

const MAX_README_LINES = 200;

const everyPage: readonly Page[] = [
  ...pages,
  { path: "CHANGELOG.md", text: rootFile("CHANGELOG.md") },
];
const { scripts }: { scripts: object } = JSON.parse(rootFile("package.json"));

it(`the README has at most ${MAX_README_LINES} lines, and links to every page`, () => {
  const readme = page("README.md");
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_README_LINES);
  const others = pages.map(({ path }) => path).filter((path) => path !== "README.md");
  expect(others.filter((path) => !readme.includes(`](${path})`))).toEqual([]);
});

describe.each(everyPage.map((one) => [one.path, one] as const))("%s", (_, { path, text }) => {
  const prose = proseOf(text);

  it("has no broken link", () => {
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const relative = targets.filter((target) => !/^https?:/.test(target));
    expect(relative.filter((target) => !leadsSomewhere(path, target))).toEqual([]);
  });

  it("names no file, folder or script that does not exist", () => {
    const paths = codeIn(prose).filter((code) =>
      /^(src|test|dev|bench|proto|gen|docs|deploy|\.ci)\//.test(code),
    );
    expect(paths.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    // The changelog names what was once.
    const run = path === "CHANGELOG.md" ? [] : prose.matchAll(/`npm run ([\w-]+)/g);
    expect([...run].filter(([, script = ""]) => !(script in scripts))).toEqual([]);
  });
});

it("where the documents speak of gRPC, the key's name is in lower case: Python's client refuses capitals", () => {
  const section = (path: string, title: string) =>
    new RegExp(`^## ${title}\n([\\s\\S]*?)^## `, "m").exec(page(path))?.[1];
  expect(section("docs/api.md", "Authentication")).toContain('metadata=[("x-api-key", KEY)]');
  expect(section("README.md", "gRPC and Connect")).not.toMatch(/X-API-Key|Authorization/);
  // A sentence about gRPC alone, or about gRPC and Connect. Tables have a column for each.
  const sentences = proseOf(page("docs/api.md"))
    .replaceAll(/^\|.*$/gm, "")
    .split(/(?<=[.:;]) |\n/);
  const capitals = /`(X-API-Key|X-Provider-Id|Retry-After|Authorization)/;
  const about = sentences.filter((one) => /gRPC|metadata/.test(one) && !/HTTP|REST/.test(one));
  expect(about.length).toBeGreaterThan(20);
  expect(about.filter((one) => capitals.test(one))).toEqual([]);
});

/** Whether a relative link leads to a file, and its fragment to a heading of it. */
function leadsSomewhere(from: string, target: string): boolean {
  const [file = "", fragment] = target.split("#");
  const path = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(ROOT, path))) return false;
  return fragment === undefined || anchorsOf(rootFile(path)).includes(fragment);
}

/** The anchors that GitHub makes of headings: lower case, without punctuation, hyphens for spaces. */
function anchorsOf(text: string): string[] {
  return [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
