/** The files of `deploy/`, parsed. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { ROOT, rootFile } from "../markdown.ts";

/** The names of the YAML files of a folder of `deploy/`, in order. */
export function yamlFilesIn(folder: string): string[] {
  return readdirSync(join(ROOT, "deploy", folder))
    .filter((name) => name.endsWith(".yaml"))
    .sort();
}

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
