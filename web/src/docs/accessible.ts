/** What Swagger UI leaves out for keyboards and screen readers. It draws at any time, so this watches. */

const FIXES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "select.examples-select-element": { "aria-label": "Example" },
  "select:not(.examples-select-element)": { "aria-label": "Choice" },
  // A scrolling area that cannot have the focus cannot be scrolled by keyboard.
  "pre.microlight": { tabindex: "0" },
  // The page has the headings above these.
  "h4.opblock-title, .responses-inner h4, .responses-inner h5": {
    role: "heading",
    "aria-level": "3",
  },
};

/** Completes the elements that Swagger UI draws inside of a place, now and later. */
export function makeAccessible(place: Element): void {
  const complete = () => {
    for (const [selector, attributes] of Object.entries(FIXES)) {
      for (const element of place.querySelectorAll(selector)) {
        for (const [name, value] of Object.entries(attributes)) {
          if (element.getAttribute(name) !== value) element.setAttribute(name, value);
        }
      }
    }
  };
  new MutationObserver(complete).observe(place, { childList: true, subtree: true });
  complete();
}
