// First: it takes the secret out of the address.

import { h, render } from "preact";
import { startConnection } from "./core/conn.js";
import { kept } from "./core/env.js";
import { startFacts } from "./core/facts.js";
import { startKeys } from "./core/keys.js";
import { startTheme } from "./core/look.js";
import { startRouter } from "./core/router.js";
import { startSessions } from "./core/sessions.js";
import { App } from "./views/app.js";

startTheme();
startRouter();
startFacts();
startSessions();
startKeys();
startConnection();
if (kept.get("offline")) void import("./core/offline.js");
if (kept.names("out:").length > 0) void import("./core/delivery.js");
render(h(App, null), /** @type {HTMLElement} */ (document.getElementById("app")));
