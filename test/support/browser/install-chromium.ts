/** Installs Debian's Chromium. Started by `chromium.ts`. */
import { installPackages } from "../../../dev/private-database/debian-packages.ts";

installPackages(["chromium"], console.error);
