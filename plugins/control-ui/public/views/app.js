import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { buildId, ofTab } from "../core/env.js";
import { needsCount } from "../core/facts.js";
import { html } from "../core/html.js";
import { isHelpOpen, isNeedsOpen, isPaletteOpen } from "../core/keys.js";
import { styled } from "../core/look.js";
import { chatAddress, isInMemory, replace, route, viewNames } from "../core/router.js";
import { lastChatKey, running, titleOfKey, unreadCount } from "../core/sessions.js";
import { connection, hasNewBuild, health, hello, isOnline } from "../core/store.js";
import { texts } from "../texts/frame.js";
import { Button } from "../ui/button.js";
import { Later, Notice, prefetch, Waiting } from "../ui/states.js";
import { BottomBar, Header, Rail } from "./frame.js";

/** Views by name; each is fetched when it is first seen. @type {Record<string, import("../ui/states.js").Load>} */
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
  panel: () => styled(import("./panels/page.js")),
  about: () => import("./about.js"),
};
const overlays = {
  signIn: () => import("./sign-in.js"),
  palette: () => import("../ui/palette.js"),
  help: () => import("../ui/key-help.js"),
  needs: () => styled(import("./needs/panel.js")),
};

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
    if (!isReachable) return;
    const timer = setTimeout(() => void prefetch(overlays.palette), PREFETCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isReachable]);
  const mustSignIn = connection.value.state === "refused" || !hello.value;
  // Where the sign-in will likely be taken, the rail stands there from the first paint on: nothing moves when the connection is made.
  const isAlone = mustSignIn && !(isFirstAttempt() && (ofTab.get("token") || lastChatKey()));
  return html`
    <a class="skip" href="#main" onClick=${skip}>${texts.skipContent}</a>
    <${Header} />
    ${!isAlone && html`<${Rail} />`}
    <main id="main" tabindex="-1" class=${isAlone ? "alone" : ""}>
      ${hasNewBuild.value && html`<${NewBuild} />`}
      ${mustSignIn && html`<${Gate} />`}
      ${hello.value && html`<div class="shown-view" hidden=${mustSignIn}><${CurrentView} /></div>`}
    </main>
    ${!isAlone && html`<${BottomBar} />`}
    ${isPaletteOpen.value && !mustSignIn && html`<${Later} load=${overlays.palette} />`}
    ${isHelpOpen.value && html`<${Later} load=${overlays.help} />`}
    ${isNeedsOpen.value && !mustSignIn && html`<${Later} load=${overlays.needs} />`}
  `;
}

/** The first attempt is quick: only when it fails there is something to say. */
function isFirstAttempt() {
  return connection.value.state === "connecting" && connection.value.attempt === 1;
}

function Gate() {
  if (isFirstAttempt()) return html`<div class="page"><${Waiting} label=${texts.connecting} /></div>`;
  return html`<${Later} load=${overlays.signIn} isPage=${true} />`;
}

function CurrentView() {
  // A file that was opened from the chat is shown beside it.
  const view = route.value.view === "memory" && !isInMemory(route.value) ? "chat" : route.value.view;
  const load = Object.hasOwn(views, view) ? views[view] : undefined;
  if (view === "") return html`<${Waiting} />`;
  if (!load) {
    return html`<div class="page"><${Notice} level="warn"><p>${texts.thereNoPage}</p>
      <p><a href="#/overview">${texts.goOverview}</a></p><//></div>`;
  }
  return html`<${Later} key=${view} load=${load} isPage=${true} />`;
}

/** @param {string} fields */
function isTyped(fields) {
  return (
    document.querySelector(".tray-files") !== null ||
    [...document.querySelectorAll(fields)].some((field) => /** @type {HTMLInputElement} */ (field).value !== "")
  );
}

/** Asks first where something may be lost. The composer keeps its text, a search its address. */
async function reload() {
  const go = () => location.reload();
  if (!isTyped("dialog :is(textarea,input),main :is(textarea:not(.composer *),input:not([type=search],[type=checkbox],[type=file]))"))
    return go();
  const title = texts.reloadSomethingTyped;
  const text = texts.unsavedNotesFiles;
  const module = await import("../ui/dialog.js").catch(() => undefined);
  if (module) module.ask({ title, text, action: texts.reload, isDanger: true, run: go });
  else if (confirm(`${title} ${text}`)) go();
}

/** Reloads only when nothing is typed and nothing is being written, and once per build. */
function reloadWhenIdle() {
  if (isTyped("textarea,input") || running.value.length > 0 || ofTab.get("reloaded") === buildId) return;
  ofTab.set("reloaded", buildId);
  location.reload();
}

function NewBuild() {
  useEffect(reloadWhenIdle, []);
  return html`<div class="bar" role="status">
    <span>${texts.newVersionPage}</span>
    <${Button} kind="primary slim" blocked=${isOnline.value ? undefined : texts.notConnectedGateway} onClick=${reload}>${texts.reload}<//>
  </div>`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** The tab says what is open, how much is unread or needs somebody, and by a dot on the icon whether something is wrong. */
function startTitle() {
  const icon = /** @type {HTMLLinkElement | null} */ (document.getElementById("icon"));
  const plain = icon?.href ?? "";
  effect(() => {
    const waiting = unreadCount.value + needsCount.value;
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${titleNow()} · svc`;
  });
  effect(() => {
    if (!icon) return;
    const isLost = hello.value !== undefined && connection.value.state !== "connected";
    const mark = isLost ? "--bad" : needsCount.value > 0 ? "--warn" : undefined;
    const wanted = mark ? dotted(getComputedStyle(document.documentElement).getPropertyValue(mark)) : plain;
    // Setting the same address again would fetch it again.
    if (icon.href !== wanted) icon.href = wanted;
  });
}

function titleNow() {
  const { view, rest } = route.value;
  if (view === "chat") return titleOfKey(rest);
  if (view === "memory" && rest === "new") return texts.newNote;
  if (view === "memory") return rest.split("/").at(-1) || texts.memory;
  return Object.hasOwn(viewNames, view) ? viewNames[view] : texts.controlUi;
}

/** The icon as a data address with a dot in the corner. @param {string} colour a computed `light-dark()` or plain colour */
function dotted(colour) {
  const probe = document.createElement("i");
  probe.style.color = colour;
  document.body.append(probe);
  const plain = getComputedStyle(probe).color;
  const accent = getComputedStyle(document.documentElement).accentColor;
  probe.remove();
  const ground = accent === "auto" ? "gray" : accent;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${ground}"/><path d="M9 16h5l3-6 2 12 2-6h2" fill="none" stroke="white" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/><circle cx="25" cy="7" r="7" fill="${plain}" stroke="white" stroke-width="2"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
