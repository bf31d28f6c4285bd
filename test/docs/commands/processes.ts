/** The processes of this machine, from Linux' `/proc`. */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** The command lines of the processes whose environment has a variable with this value. */
export function processesWith(name: string, value: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && pid !== `${process.pid}`)
    .filter((pid) => procFile(pid, "environ").split("\0").includes(`${name}=${value}`))
    .map((pid) => `${pid}: ${procFile(pid, "cmdline").replaceAll("\0", " ")}`);
}

/** Whether a process group has any process left. */
export function isGroupLeft(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

/** A file of a process; empty if it has just ended or belongs to another user. */
function procFile(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
