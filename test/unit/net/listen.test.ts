/** Listening: which addresses `HOST` stands for, and a port that is taken. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { expect, it, onTestFinished } from "vitest";
import { listen, listenAddress } from "../../../src/net/listen.ts";

it.each([
  ["::", true, "::"],
  ["::", false, "0.0.0.0"],
  ["127.0.0.1", false, "127.0.0.1"],
])("the address %s with IPv6: %s is %s", (host, hasIpv6, address) => {
  const family = hasIpv6 ? "IPv6" : "IPv4";
  expect(listenAddress(host, { lo: [{ family } as NetworkInterfaceInfo] })).toBe(address);
});

it("a port that is in use, or that does not exist, is told by the name of its variable", async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const bind = async (port: number) => {
    await once(createServer().listen(port, "127.0.0.1"), "listening");
    return port;
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await expect(listen("HTTP_PORT", port, bind)).rejects.toThrow(
    `HTTP_PORT ${port} is in use already (EADDRINUSE)`,
  );
  await expect(listen("GRPC_PORT", 70_000, bind)).rejects.toThrow(
    /^GRPC_PORT 70000 cannot be listened on \(.*65536.*\)$/,
  );
});
