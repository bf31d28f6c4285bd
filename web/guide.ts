/**
 * The guide of the reference page, from `docs/api.md` and `examples/`, as HTML at build time. So
 * nothing on the page is written twice.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked } from "marked";
import type { Plugin } from "vite";

const ROOT = join(import.meta.dirname, "..");

const EXAMPLES = [
  { title: "curl", path: "examples/curl/revenue.sh" },
  { title: "TypeScript", path: "examples/typescript/revenue.mts" },
  { title: "Python", path: "examples/python/revenue.py" },
];

/** Fills the places of `docs.html`: `<!--contents-->`, `<!--guide-->` and `<!--examples-->`. */
export function guide(): Plugin {
  return {
    name: "guide",
    transformIndexHtml: {
      order: "pre",
      handler: (html) =>
        html
          .replace("<!--contents-->", () => contents())
          .replace("<!--guide-->", () => sections().map(writeSection).join(""))
          .replace("<!--examples-->", () => EXAMPLES.map(writeExample).join("")),
    },
  };
}

interface Section {
  readonly title: string;
  readonly id: string;
  readonly text: string;
}

function sections(): Section[] {
  const [, ...parts] = readFileSync(join(ROOT, "docs/api.md"), "utf8").split(/^## /m);
  return parts.map((part) => {
    const end = part.indexOf("\n");
    const title = part.slice(0, end);
    const text = part.slice(end).replaceAll(/<!--.*?-->\n*/g, "");
    return { title, id: title.toLowerCase().replace(/\W+/g, "-"), text };
  });
}

function contents(): string {
  return sections()
    .map(({ title, id }) => `<li><a href="#${id}">${title}</a></li>`)
    .join("");
}

function writeSection({ title, id, text }: Section): string {
  return `<section><h2 id="${id}">${title}</h2>${markdown.parse(withoutReferences(text))}</section>`;
}

function writeExample({ title, path }: (typeof EXAMPLES)[number]): string {
  const code = readFileSync(join(ROOT, path), "utf8").trimEnd();
  return `<details><summary>${title}</summary><pre><code>${escapeHtml(code)}</code></pre></details>`;
}

/** Leaves out sentences with a link to another file of the repository: it leads nowhere from here. */
function withoutReferences(text: string): string {
  return text
    .split("\n")
    .map((paragraph) => {
      const sentences = paragraph.split(/(?<=[.!?]) /);
      return sentences.filter((sentence) => !/\]\((?!https?:|#)/.test(sentence)).join(" ");
    })
    .join("\n");
}

const markdown = new Marked({
  renderer: {
    link({ href, tokens }) {
      return `<a href="${escapeHtml(href)}" rel="noreferrer">${this.parser.parseInline(tokens)}</a>`;
    },
    // To paste as it is, with the variable of the other blocks of the page.
    code({ text }) {
      const pasted = text.replaceAll(/^\$ /gm, "").replaceAll("$KEY", "$REVENUE_API_KEY");
      return `<pre><code>${escapeHtml(pasted)}</code></pre>`;
    },
    table(token) {
      const cells = (row: typeof token.header, tag: string) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("");
      const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
      return `<div class="table" tabindex="0"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${rows}</tbody></table></div>`;
    },
  },
});

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
