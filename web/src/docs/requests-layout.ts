/**
 * A plugin of Swagger UI with a layout of our own: the button for the key, the operations and the
 * schemas. Its own layout also has a title, a list of servers and a second `main` element.
 *
 * @see https://swagger.io/docs/open-source-tools/swagger-ui/customization/custom-layout/
 */

/** What a plugin gets. */
export interface System {
  readonly React: {
    createElement(type: unknown, props: object | null, ...children: unknown[]): unknown;
  };
}

interface LayoutProps {
  /** Returns a component of Swagger UI; with `true`, one that is connected to its state. */
  getComponent(name: string, connected?: true): unknown;
  readonly specSelectors: { loadingStatus(): string | undefined };
}

/** The layout, for the option `layout`. */
export const REQUESTS_LAYOUT = "RequestsLayout";

/** Adds the layout. */
export function requestsLayout({ React: { createElement } }: System) {
  const layout = ({ getComponent, specSelectors }: LayoutProps) => {
    switch (specSelectors.loadingStatus()) {
      case "success": {
        const part = (name: string) => createElement(getComponent(name, true), null);
        const keyButton = createElement(
          "div",
          { className: "scheme-container" },
          part("AuthorizeBtnContainer"),
        );
        const parts = ["errors", "operations", "Models"].map(part);
        return createElement("div", { className: "swagger-ui" }, keyButton, ...parts);
      }
      case "failed":
        return createElement("p", { role: "alert" }, "The reference could not be loaded.");
      default:
        return createElement("p", { role: "status" }, "Loading …");
    }
  };
  return { components: { [REQUESTS_LAYOUT]: layout } };
}
