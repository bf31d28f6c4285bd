/**
 * Ends this process when its parent exits, even by SIGKILL. Preload it in a child that has an
 * IPC channel: `node --import dev/parent-watch.ts …`. The channel closes with the parent.
 */
process.once("disconnect", () => {
  process.kill(process.pid, "SIGTERM");
  setTimeout(() => process.kill(process.pid, "SIGKILL"), 15_000).unref();
});
// The channel must not keep the process alive.
process.channel?.unref();
