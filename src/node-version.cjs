/**
 * Ends a program on a Node that is too old for it, with one line instead of the stack of whatever it
 * lacks. Preloaded with `--require` by the scripts of package.json, so it is plain JavaScript that any
 * Node can run.
 */
var required = /\d+/.exec(require("../package.json").engines.node)[0];
if (parseInt(process.versions.node, 10) < Number(required)) {
  console.error(`error: needs Node ${required}, this is ${process.versions.node}`);
  process.exit(1);
}
