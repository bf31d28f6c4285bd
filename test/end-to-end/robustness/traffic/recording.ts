/** Records what a client sends: a TCP proxy between the client and the service. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

/**
 * Runs `act` with the address of a proxy of a port on this machine. Resolves to the bytes that
 * the client has sent when `act` is done. `close` is called after that.
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
