/** Variables that are valid by themselves and contradict each other. */
import { parseCertificates, readContents, type TlsSettings, tlsFiles } from "./certificates.ts";
import { mistakesOf } from "./mistake.ts";

/** What is compared. A field whose own text is malformed is undefined. */
interface Settings extends TlsSettings {
  readonly httpPort: number;
  readonly grpcPort: number;
  readonly adminPort: number | undefined;
}

/** The contradictions, by the names of the variables. Reads the files of TLS. */
export function contradictions(settings: Settings): string[] {
  return [...equalPorts(settings), ...tlsMistakes(settings)];
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

function tlsMistakes(settings: Settings): readonly string[] {
  const files = tlsFiles(settings);
  if (files === undefined) {
    const { tlsCertFile, tlsKeyFile, tlsClientCaFile } = settings;
    const set = [tlsCertFile, tlsKeyFile, tlsClientCaFile].some((file) => file !== undefined);
    return set ? ["TLS needs both TLS_CERT_FILE and TLS_KEY_FILE"] : [];
  }
  return mistakesOf(() => parseCertificates(readContents(files)));
}
