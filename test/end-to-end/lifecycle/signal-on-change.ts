/**
 * Preloaded into the service: sends it SIGTERM once, where the listeners of its signals change. That is
 * where one can be lost.
 */
let sent = false;
function send(): void {
  if (!sent) process.kill(process.pid, "SIGTERM");
  sent = true;
}
process.on("removeListener", (event) => {
  if (event === "SIGTERM") send();
});
process.on("newListener", (event) => {
  if (event === "SIGINT") send();
});
