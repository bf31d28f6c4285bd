/** The flags of the commands, which commander reads. */
import { Command } from "commander";
import { redactKeys } from "../auth/api-key.ts";

/**
 * Creates the command of an npm script. `--help` lists its flags. Others than these end it with 1.
 *
 * @param script what is typed: `npm run migrate`
 */
export function createCommand(script: string, description: string): Command {
  return (
    new Command(`${script} --`)
      .description(description)
      .showHelpAfterError(`(${script} -- --help lists the flags)`)
      // A mistyped key must not end up in a terminal's log.
      .configureOutput({ outputError: (text, write) => write(redactKeys(text)) })
  );
}
