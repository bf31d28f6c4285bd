/**
 * Puts the script, the styles and the icon of a page into it: a page is one file. In a rollout two versions answer
 * behind one address, and a page of the one would ask the other for a script that it does not have.
 */
import type { Plugin } from "vite";

const SCRIPT = /<script type="module"[^>]* src="\.\/([^"]+)"><\/script>\s*/;
const STYLE = /<link rel="stylesheet"[^>]* href="\.\/([^"]+)">/g;
const ICON = /(?<=<link rel="icon" )href="\.\/([^"]+)"/;

/** Text that would end a script, or open a comment, in HTML. It stands in strings and expressions. */
const MARKUP = /<(?=\/script|script|!--)/gi;

/** A plugin for a build with one page. */
export function inline(): Plugin {
  return {
    name: "inline",
    enforce: "post",
    // After the licences are gathered, from the files that it takes away.
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const take = (name = "a file"): string => {
          const file = bundle[name];
          if (file === undefined) throw new Error(`the page names ${name}, which was not built`);
          delete bundle[name];
          return file.type === "chunk" ? file.code : String(file.source);
        };
        for (const page of Object.values(bundle)) {
          if (page.type !== "asset" || !page.fileName.endsWith(".html")) continue;
          const html = String(page.source);
          const script = take(SCRIPT.exec(html)?.[1]).replace(MARKUP, "\\x3c");
          page.source = html
            .replace(SCRIPT, "")
            .replace(STYLE, (_, name) => `<style>${take(name)}</style>`)
            .replace(
              ICON,
              (_, name) => `href="data:image/svg+xml,${encodeURIComponent(take(name))}"`,
            )
            // At the end, so that the text of the page does not wait for it.
            .replace("</body>", () => `<script type="module">${script}</script>\n</body>`);
        }
      },
    },
  };
}
