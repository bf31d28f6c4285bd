/** Variables that are valid by themselves and contradict each other. */
import { readCertificates, type TlsSettings, tlsFiles } from "./certificates.ts";
import { mistakesOf } from "./mistake.ts";

/** What is compared. A field whose own text is malformed is undefined. Times are in ms. */
interface Settings extends TlsSettings {
  readonly httpPort: number;
  readonly grpcPort: number;
  readonly adminPort: number | undefined;
  readonly maxCall: number;
  readonly connectionTimeout: number;
  readonly responseTimeout: number;
}

/** The contradictions, by the names of the variables. Reads the files of TLS. */
export function contradictions(settings: Settings): string[] {
  return [...equalPorts(settings), ...shorterThanCalls(settings), ...tlsMistakes(settings)];
}

function equalPorts({ httpPort, grpcPort, adminPort }: Settings): string[] {
  const ports = [
    ["HTTP_PORT", httpPort],
    ["GRPC_PORT", grpcPort],
    ["ADMIN_PORT", adminPort],
  ] as const;
  return ports.flatMap(([name, port], index) =>
    ports
      .slice(index + 1)
      .filter(([, other]) => port && port === other)
      .map(([other]) => `${name} and ${other} are both ${port}; they must differ`),
  );
}

/** Times of HTTP that would cut off the longest call. */
function shorterThanCalls({ maxCall, connectionTimeout, responseTimeout }: Settings): string[] {
  return [
    ...(connectionTimeout <= maxCall ? ["HTTP_SILENCE_TIMEOUT_MS"] : []),
    ...(responseTimeout <= maxCall ? ["RESPONSE_TIMEOUT_MS"] : []),
  ].map((name) => `${name} must be longer than MAX_CALL_MS, which is ${maxCall}`);
}

function tlsMistakes(settings: Settings): readonly string[] {
  const files = tlsFiles(settings);
  if (files === undefined) {
    const { tlsCertFile, tlsKeyFile, tlsClientCaFile } = settings;
    const set = [tlsCertFile, tlsKeyFile, tlsClientCaFile].some((file) => file !== undefined);
    return set ? ["TLS needs both TLS_CERT_FILE and TLS_KEY_FILE"] : [];
  }
  return mistakesOf(() => readCertificates(files));
}
