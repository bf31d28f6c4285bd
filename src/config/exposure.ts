/** What a valid configuration may show to others without anybody meaning it. */

/** What is looked at. */
interface Settings {
  readonly host: string;
  readonly serviceKeys: "grpc" | "all" | "off";
  readonly tlsCertFile: string | undefined;
}

/** The addresses that no other machine reaches. */
const LOOPBACK = /^(127\.|::1$|localhost$)/i;

/** A line for each thing that others may see. */
export function exposures({ host, serviceKeys, tlsCertFile }: Settings): string[] {
  if (serviceKeys === "off" || tlsCertFile !== undefined || LOOPBACK.test(host)) return [];
  const ports = serviceKeys === "all" ? "both ports accept" : "the gRPC port accepts";
  return [
    `${ports} service keys, without TLS, on ${host} (HOST): a key that reads every provider may be overheard, so TLS must end in front of this port, on a network of the platform's own; or set SERVICE_KEYS=off`,
  ];
}
