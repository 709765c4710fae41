import { effect, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { base, buildId, ofTab } from "../core/env.js";
import { html } from "../core/html.js";
import { isHelpOpen, isNeedsOpen, isPaletteOpen } from "../core/keys.js";
import { styled } from "../core/look.js";
import { chatAddress, isInMemory, replace, route } from "../core/router.js";
import { lastChatKey, running } from "../core/sessions.js";
import { connection, hasNewBuild, health, hello, isOnline } from "../core/store.js";
import { Button } from "../ui/button.js";
import { Notice, Waiting } from "../ui/states.js";
import { BottomBar, Header, Rail } from "./frame.js";
import { startTitle } from "./title.js";

/** Views by name; each is fetched when it is first seen. @type {Record<string, Load>} */
const views = {
  overview: () => import("./overview.js"),
  chat: () => styled(import("./chat/page.js")),
  explain: () => styled(import("./explain/page.js")),
  sessions: () => import("./sessions.js"),
  memory: () => styled(import("./memory/page.js")),
  channels: () => styled(import("./channels/page.js")),
  webhooks: () => styled(import("./webhooks/page.js")),
  plugins: () => styled(import("./plugins/page.js")),
  devices: () => styled(import("./devices/page.js")),
  agents: () => styled(import("./agents/page.js")),
  models: () => styled(import("./models/page.js")),
  schedule: () => styled(import("./schedule/page.js")),
  mcp: () => styled(import("./mcp/page.js")),
  config: () => styled(import("./config/page.js")),
  usage: () => styled(import("./usage/page.js")),
  logs: () => styled(import("./logs/page.js")),
  audit: () => styled(import("./audit/page.js")),
  about: () => import("./about.js"),
};
const overlays = {
  signIn: () => import("./sign-in.js"),
  palette: () => import("../ui/palette.js"),
  help: () => import("../ui/key-help.js"),
  needs: () => styled(import("./needs/panel.js")),
};

/** A module of this build is gone: the gateway serves another one. */
const isBroken = signal(false);

// An empty address means: whatever matters most now.
effect(() => {
  if (route.value.view !== "" || !hello.value) return;
  const last = lastChatKey();
  replace(health.value?.ok === false || !last ? "#/overview" : chatAddress(last));
});
startTitle();

/** Keys typed right after the one that opens the palette must find it there. */
const PREFETCH_AFTER_MS = 1_000;

export function App() {
  const isReachable = isOnline.value;
  useEffect(() => {
    // A gateway that is just starting or away has no files to give; the next connection is soon enough.
    if (!isReachable || fetched.has(overlays.palette)) return;
    const timer = setTimeout(() => void fetchView(overlays.palette), PREFETCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isReachable]);
  const mustSignIn = connection.value.state === "refused" || !hello.value;
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <${Header} />
    ${!mustSignIn && html`<${Rail} />`}
    <main id="main" tabindex="-1" class=${mustSignIn ? "alone" : ""}>
      ${(hasNewBuild.value || isBroken.value) && html`<${NewBuild} />`}
      ${mustSignIn ? html`<${Gate} />` : html`<${CurrentView} />`}
    </main>
    ${!mustSignIn && html`<${BottomBar} />`}
    ${isPaletteOpen.value && !mustSignIn && html`<${Lazy} load=${overlays.palette} />`}
    ${isHelpOpen.value && html`<${Lazy} load=${overlays.help} />`}
    ${isNeedsOpen.value && !mustSignIn && html`<${Lazy} load=${overlays.needs} />`}
  `;
}

/** The first attempt is quick: only when it fails there is something to say. */
function Gate() {
  const isTrying = connection.value.state === "connecting" && connection.value.attempt === 1;
  return isTrying ? html`<div class="page"><${Waiting} label="Connecting" /></div>` : html`<${Lazy} load=${overlays.signIn} />`;
}

function CurrentView() {
  // A file that was opened from the chat is shown beside it.
  const view = route.value.view === "memory" && !isInMemory(route.value) ? "chat" : route.value.view;
  const load = Object.hasOwn(views, view) ? views[view] : undefined;
  if (view === "") return html`<${Waiting} />`;
  if (!load) {
    return html`<div class="page"><${Notice} level="warn"><p>There is no page at this address.</p>
      <p><a href="#/overview">Go to the overview</a></p><//></div>`;
  }
  return html`<${Lazy} key=${view} load=${load} />`;
}

/** @typedef {() => Promise<{ default: any }>} Load */

/** Views that were fetched already; they are drawn at once. @type {Map<Load, any>} */
const fetched = new Map();

/** @param {Load} load */
async function fetchView(load) {
  try {
    const { default: View } = await load();
    fetched.set(load, View);
    return View;
  } catch {
    void noteMissingFile();
    return undefined;
  }
}

/** A file that is missing while the gateway answers belongs to another build; a gateway that is away has none to give. */
async function noteMissingFile() {
  const page = await fetch(base, { cache: "no-store" }).catch(() => undefined);
  if (page?.ok) isBroken.value = true;
}

/** @param {{ load: Load }} props */
function Lazy({ load }) {
  const [View, setView] = useState(() => fetched.get(load));
  const isReachable = isOnline.value;
  useEffect(() => {
    if (!View) void fetchView(load).then((found) => found && setView(() => found));
  }, [isReachable]);
  return View ? html`<${View} />` : html`<div class="page"><${Waiting} /></div>`;
}

/** Reloads only when nothing is typed and nothing is being written, and once per build. */
function reloadWhenIdle() {
  const isTyped =
    document.querySelector(".tray-files") !== null ||
    [...document.querySelectorAll("textarea, input")].some((field) => /** @type {HTMLInputElement} */ (field).value !== "");
  if (isTyped || running.value.length > 0 || ofTab.get("reloaded") === buildId) return;
  ofTab.set("reloaded", buildId);
  location.reload();
}

function NewBuild() {
  useEffect(reloadWhenIdle, []);
  return html`<div class="bar" role="status">
    <span>A new version of this page is available.</span>
    <${Button} kind="primary slim" onClick=${() => location.reload()}>Reload<//>
  </div>`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
