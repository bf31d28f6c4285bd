/**
 * The address of a client, as a key for limits per address. Behind trusted proxies it is the
 * nearest address in `X-Forwarded-For` that is not a trusted proxy. An IPv6 address stands for its
 * /64 network, which one subscriber has to himself.
 */
import { compile } from "@fastify/proxy-addr";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** The addresses of clients, according to the trusted proxies. */
export interface Addresses {
  /**
   * The client of a request: "192.0.2.1", or "2001:db8::/64"; "" if it is unknown.
   *
   * @param peer the remote address of the connection
   * @param forwardedFor the values of `X-Forwarded-For`, joined by ","
   */
  clientOf(peer: string | undefined, forwardedFor: string | undefined): string;
}

/** How many of the last addresses in `X-Forwarded-For` are looked at. */
const MAX_HOPS = 32;
/** The addresses whose keys are remembered: to parse one takes longer than to look it up. */
const MAX_REMEMBERED = 1_000;

/**
 * Creates the keys of client addresses.
 *
 * @param trustedProxies IP addresses and networks: "10.0.0.0/8", "::1"
 */
export function createAddresses(trustedProxies: readonly string[]): Addresses {
  const trusts = compile([...trustedProxies]);
  const isTrusted = (peer: string) => ipaddr.isValid(peer) && trusts(peer, 0);
  const keys = new LRUCache<string, string>({ max: MAX_REMEMBERED, memoMethod: keyOf });
  return {
    clientOf(peer = "", forwardedFor = "") {
      let client = peer;
      if (trustedProxies.length === 0) return keys.memo(peer);
      for (let hops = 0, end = forwardedFor.length; hops < MAX_HOPS && isTrusted(client); hops++) {
        const start = forwardedFor.lastIndexOf(",", end - 1) + 1;
        const hop = addressIn(forwardedFor.slice(start, end));
        // A proxy that sends something else than an address is all that is known.
        if (!ipaddr.isValid(hop)) break;
        client = hop;
        if (start === 0) break;
        end = start - 1;
      }
      return keys.memo(client);
    },
  };
}

/** The address in an entry of `X-Forwarded-For`: some proxies add its port, and brackets (Azure, IIS). */
function addressIn(entry: string): string {
  const text = entry.trim();
  const [, bracketed, withPort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  return bracketed ?? withPort ?? text;
}

function keyOf(text: string): string {
  if (!ipaddr.isValid(text)) return "";
  const address = ipaddr.process(text); // an IPv4-mapped address as IPv4
  if (address.kind() === "ipv4") return address.toString();
  return `${new ipaddr.IPv6([...address.toByteArray().slice(0, 8), ...Array(8).fill(0)])}/64`;
}
