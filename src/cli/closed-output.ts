/** What a command prints, where nobody reads it any more. */

/**
 * Lets a command whose reader has gone (`| head`) go on to its end, in silence: its work is done, and its exit code
 * tells how. What cannot be written for another reason, such as a full disk, still ends it.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}
