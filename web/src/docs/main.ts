/** The reference page: Swagger UI on this service's own OpenAPI document. */
import SwaggerUi from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import { SERVICE_URL } from "../service-url.ts";
import { storedKey } from "../session.ts";
import { makeAccessible } from "./accessible.ts";
import { exactAnswers } from "./exact-answers.ts";
import { withPastedKey } from "./pasted-key.ts";
import { REQUESTS_LAYOUT, requestsLayout } from "./requests-layout.ts";
import { sameService } from "./same-service.ts";

for (const place of document.querySelectorAll("[data-origin]")) place.textContent = SERVICE_URL;

const dark = matchMedia("(prefers-color-scheme: dark)");
const setScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", setScheme);
setScheme();

const place = document.getElementById("reference-ui");
if (place) makeAccessible(place);
const ui = SwaggerUi({
  url: "openapi.json",
  domNode: place,
  // No request to another origin, and nothing of the key in localStorage.
  validatorUrl: null,
  persistAuthorization: false,
  queryConfigEnabled: false,
  syntaxHighlight: false,
  plugins: [exactAnswers, requestsLayout, sameService],
  layout: REQUESTS_LAYOUT,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  supportedSubmitMethods: ["get"],
  requestInterceptor: withPastedKey,
  onComplete: () => {
    const key = storedKey();
    if (key !== undefined) ui.preauthorizeApiKey("apiKey", key);
  },
});
