import { expect, it } from "vitest";
import { createAddresses } from "../../../src/net/address.ts";

const PROXIES = ["10.0.0.0/8", "fd00::1"];

it.each<[string, string | undefined, string | undefined, string]>([
  ["the peer", "192.0.2.1", undefined, "192.0.2.1"],
  ["an IPv4-mapped peer", "::ffff:192.0.2.1", undefined, "192.0.2.1"],
  ["the /64 of an IPv6 peer", "2001:db8:1:2:3:4:5:6", undefined, "2001:db8:1:2::/64"],
  ["an IPv6 peer with a zone", "fe80::1%eth0", undefined, "fe80::/64"],
  ["the peer if it is not a proxy, whatever it forwards", "192.0.2.1", "198.51.100.1", "192.0.2.1"],
  ["the last address of a proxy", "10.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"],
  ["the address before a second proxy", "fd00::1", "198.51.100.1,10.1.1.1", "198.51.100.1"],
  ["a proxy that forwards nothing", "10.0.0.1", undefined, "10.0.0.1"],
  ["a proxy that forwards no address", "10.0.0.1", "unknown", "10.0.0.1"],
  ["a proxy alone in the list", "10.0.0.1", "10.2.2.2", "10.2.2.2"],
  ["an address with a port", "10.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
  ["an address in brackets", "10.0.0.1", "[2001:db8::99], [fd00::1]:443", "2001:db8::/64"],
  ["an address before an empty entry", "10.0.0.1", "198.51.100.1,", "10.0.0.1"],
  ["one of the last 32", "10.0.0.1", `198.51.100.1${",10.0.0.2".repeat(31)}`, "198.51.100.1"],
  ["a proxy beyond them", "10.0.0.1", `198.51.100.1${",10.0.0.2".repeat(32)}`, "10.0.0.2"],
  ["nothing if the peer is unknown", undefined, "198.51.100.1", ""],
])("the client is %s", (_, peer, forwardedFor, client) => {
  expect(createAddresses(PROXIES).clientOf(peer, forwardedFor)).toBe(client);
});

it("no peer is trusted by default", () => {
  expect(createAddresses([]).clientOf("127.0.0.1", "198.51.100.1")).toBe("127.0.0.1");
});
