/** A plugin of Swagger UI that sends requests to the service of the page, whatever servers the document has first. */
export function sameService() {
  return { statePlugins: { oas3: { wrapSelectors: { selectedServer: () => () => "." } } } };
}
