import { describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { runCommand } from "../../support/commands/run-command.ts";

const key = (...args: string[]) => runCommand("key", args);

describe("a key that was mistyped or typed in the wrong place", () => {
  const typed = generateKey();
  it.each([
    ["as the command", [typed]],
    ["as an option", [`--${typed}`]],
    ["as the provider", ["create", "--provider", typed]],
    ["as the expiry", ["create", "--provider", "1", "--expires", typed]],
    ["as the name of an option", ["create", "--provider", "1", `--${typed}`]],
    ["as an excess argument", ["list", typed]],
    ["with one character too many", ["revoke", `${typed}0`]],
    ["without its last character", ["revoke", typed.slice(0, -1)]],
    ["without its first character", ["revoke", typed.slice(1)]],
    ["without its prefix", ["revoke", typed.slice(4)]],
    ["in capitals", ["revoke", typed.toUpperCase()]],
  ])("%s is not repeated", async (_, args) => {
    const { code, stdout, stderr } = await key(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: /);
    expect(stderr.toLowerCase()).not.toContain(typed.slice(9, 40).toLowerCase());
  });
});
