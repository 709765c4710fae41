import { effect } from "@preact/signals";
import { needsCount } from "../core/facts.js";
import { route, viewNames } from "../core/router.js";
import { titleOfKey, unreadCount } from "../core/sessions.js";
import { connection, hello } from "../core/store.js";

/** The tab says what is open, how much is unread or needs somebody, and by a dot on the icon whether something is wrong. */
export function startTitle() {
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
    icon.href = mark ? dotted(getComputedStyle(document.documentElement).getPropertyValue(mark)) : plain;
  });
}

function titleNow() {
  const { view, rest } = route.value;
  if (view === "chat") return titleOfKey(rest);
  if (view === "memory" && rest === "new") return "New note";
  if (view === "memory") return rest.split("/").at(-1) || "Memory";
  return Object.hasOwn(viewNames, view) ? viewNames[view] : "Control UI";
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
