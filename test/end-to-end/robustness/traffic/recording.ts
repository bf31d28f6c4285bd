/** Records the bytes that a client sends, with a TCP proxy in front of the service. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

/**
 * Runs `act` with the address of a proxy for a local port. Resolves to the bytes that the client had
 * sent when `act` resolved. After that, calls the function that `act` resolved to.
 */
export async function record(
  port: number,
  act: (address: string) => Promise<() => void>,
): Promise<Buffer> {
  const sent: Buffer[] = [];
  const proxy = createServer((client) => {
    const service = connect(port, "127.0.0.1");
    client.on("data", (chunk: Buffer) => sent.push(chunk));
    client.pipe(service).pipe(client);
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      one.on("error", () => other.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const close = await act(`127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  const bytes = Buffer.concat(sent);
  close();
  proxy.close();
  return bytes;
}
