/** The files of `deploy/`, parsed. */
import { parseAllDocuments } from "yaml";
import { rootFile } from "../markdown.ts";

/**
 * The documents of a YAML file of `deploy/`, as YAML 1.1, which Kubernetes, Prometheus and Compose read: `0440` is
 * octal there.
 *
 * @throws Error with the first mistake, a key that comes twice among them
 */
export function yamlFile<T>(path: string): T[] {
  const options = { version: "1.1", merge: true, uniqueKeys: true } as const;
  return parseAllDocuments(rootFile(`deploy/${path}`), options).map((document) => {
    const [mistake] = [...document.errors, ...document.warnings];
    if (mistake !== undefined) throw mistake;
    return document.toJS();
  });
}

/** The first document of a YAML file of `deploy/`. */
export const yamlDocument = <T>(path: string): T => yamlFile<T>(path)[0] as T;

/** A service of the compose file: the fields that the tests look at. */
interface ComposeService {
  readonly command?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
}

/** The compose file. */
export const compose = yamlDocument<{
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}>("compose.yaml");
