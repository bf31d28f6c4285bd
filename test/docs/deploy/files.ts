/** The files of `deploy/`, parsed. */
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { rootFile } from "../markdown.ts";

/**
 * Parses YAML 1.1, which Kubernetes, Prometheus and Compose read: `0440` is octal there.
 *
 * @throws Error with the first mistake, a key that comes twice among them
 */
export function parseYaml<T>(text: string): T[] {
  const documents = parseAllDocuments(text, { version: "1.1", merge: true, uniqueKeys: true });
  for (const { errors, warnings } of documents) {
    const [mistake] = [...errors, ...warnings];
    if (mistake !== undefined) throw mistake;
  }
  return documents.map((document) => document.toJS());
}

/** The documents of a YAML file of `deploy/`. */
export function yamlFile<T>(path: string): T[] {
  return parseYaml(rootFile(join("deploy", path)));
}

/** The only document of a YAML file of `deploy/`. */
export function yamlDocument<T>(path: string): T {
  const [document, ...others] = yamlFile<T>(path);
  if (document === undefined || others.length > 0) throw new Error(`${path}: not one document`);
  return document;
}

/** The compose file. */
export interface Compose {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

/** A service of the compose file: the fields that the tests look at. */
export interface ComposeService {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
}

export const compose = yamlDocument<Compose>("compose.yaml");
