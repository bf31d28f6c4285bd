/** Processes of this machine, as far as the test may look at them: Linux' `/proc`. */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** The command lines of the processes that were started with a variable set so, or below one that was. */
export function processesWith(name: string, value: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && pid !== `${process.pid}`)
    .filter((pid) => procFile(pid, "environ").split("\0").includes(`${name}=${value}`))
    .map((pid) => `${pid}: ${procFile(pid, "cmdline").replaceAll("\0", " ")}`);
}

/** Whether anything of a process group is left. */
export function isGroupLeft(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

/** A file of a process; empty where it has just ended or is somebody else's. */
function procFile(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
