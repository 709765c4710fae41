// First: it takes the secret out of the address.
import "./core/env.js";
import { h, render } from "preact";
import { startChats } from "./core/chat.js";
import { startConnection } from "./core/conn.js";
import { startFacts } from "./core/facts.js";
import { startKeys } from "./core/keys.js";
import { startRouter } from "./core/router.js";
import { startSessions } from "./core/sessions.js";
import { startTheme } from "./core/theme.js";
import { App } from "./views/app.js";

startTheme();
startRouter();
startFacts();
startSessions();
startChats();
startKeys();
startConnection();
render(h(App, null), /** @type {HTMLElement} */ (document.getElementById("app")));
