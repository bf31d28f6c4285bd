/** The README is short, and the documentation refers only to what exists. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { codeIn, page, pages, proseOf, ROOT, rootFile } from "./markdown.ts";

const MAX_README_LINES = 200;

const everyPage = [...pages, { path: "CHANGELOG.md", text: rootFile("CHANGELOG.md") }];
const { scripts }: { scripts: object } = JSON.parse(rootFile("package.json"));

it(`the README has at most ${MAX_README_LINES} lines, and links to every page`, () => {
  const readme = page("README.md");
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_README_LINES);
  const others = pages.map(({ path }) => path).filter((path) => path !== "README.md");
  expect(others.filter((path) => !readme.includes(`](${path})`))).toEqual([]);
});

it.each(everyPage)("$path has no broken link, and names nothing that does not exist", (one) => {
  const prose = proseOf(one.text);
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const relative = links.filter((target) => !/^https?:/.test(target));
  expect(relative.filter((target) => !leadsSomewhere(one.path, target))).toEqual([]);
  const paths = codeIn(prose).filter((code) =>
    /^(src|test|dev|bench|proto|gen|docs|deploy|\.ci)\//.test(code),
  );
  expect(paths.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  // The changelog names what was once.
  const run = one.path === "CHANGELOG.md" ? [] : prose.matchAll(/`npm run ([\w-]+)/g);
  expect([...run].filter(([, script = ""]) => !(script in scripts))).toEqual([]);
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
