/** The page: what a provider earned, for people who would rather look than read. */
import { render } from "preact";
import { App } from "./app.tsx";

const root = document.getElementById("app");
if (root) render(<App />, root);
