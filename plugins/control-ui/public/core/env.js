/**
 * Where this page runs and what it remembers. The first module of the page: a secret in the address is taken and wiped before anything
 * else happens.
 */

const root = document.documentElement;

/** As configured: `/`, or `/ui` without a trailing slash. */
export const basePath = root.dataset.svcControlUiBasePath ?? "/";

/** Base path of the page's own addresses, with a trailing slash. */
export const base = basePath === "/" ? "/" : `${basePath}/`;

export const buildId = root.dataset.build ?? "";

/** The gateway this page came from, and no other (a `gatewayUrl` in the address is not looked at). */
export const socketUrl = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${basePath}`;

/** @typedef {{ token?: string | undefined, invitation?: string | undefined }} Handed */

/** @type {Handed} */
let handed = {};

/** The token of a `#token=` address, or the invitation of a scanned `#invite=` one, once. @returns {Handed} */
export function takeHanded() {
  readAddress();
  const taken = handed;
  handed = {};
  return taken;
}

/** Takes `#token=` and `#invite=` and wipes them, and anything secret or misleading in the query, from the address and the history entry. */
function readAddress() {
  const url = new URL(location.href);
  const names = ["token", "invite", "password", "gatewayUrl"];
  const hadQuery = names.some((name) => url.searchParams.has(name));
  for (const name of names) url.searchParams.delete(name);
  const fragment = url.hash.startsWith("#/") ? undefined : new URLSearchParams(url.hash.slice(1));
  const [token, invitation] = [fragment?.get("token") || undefined, fragment?.get("invite") || undefined];
  const isHanded = token !== undefined || invitation !== undefined;
  if (!isHanded && !hadQuery) return;
  if (isHanded) {
    handed = { token, invitation };
    url.hash = "";
  }
  history.replaceState(null, "", url.pathname + url.search + url.hash);
}

/**
 * Named storage of this gateway and base path. Browsers may refuse storage; then it lives as long as the page.
 * @param {"localStorage" | "sessionStorage"} kind
 */
function open(kind) {
  const prefix = `svc:${base}:`;
  /** @type {Map<string, string>} */
  const memory = new Map();
  /** @template T @param {(storage: Storage) => T} use @param {T} otherwise @returns {T} */
  const attempt = (use, otherwise) => {
    try {
      return use(window[kind]);
    } catch {
      return otherwise;
    }
  };
  return {
    /** @param {string} name @returns {string | null} */
    get: (name) => memory.get(name) ?? attempt((s) => s.getItem(prefix + name), null),
    /** @param {string} name @param {string} value */
    set(name, value) {
      if (isForgotten) return;
      const stored = attempt((s) => {
        s.setItem(prefix + name, value);
        return true;
      }, false);
      if (stored) memory.delete(name);
      else memory.set(name, value);
    },
    /** @param {string} name */
    remove(name) {
      memory.delete(name);
      attempt((s) => s.removeItem(prefix + name), undefined);
    },
    /** @param {string} start @returns {string[]} names that begin so */
    names(start) {
      const stored = attempt((s) => Array.from({ length: s.length }, (_, i) => s.key(i) ?? ""), /** @type {string[]} */ ([]));
      const own = stored.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
      return [...new Set([...own, ...memory.keys()])].filter((name) => name.startsWith(start));
    },
  };
}

/** Outlives the tab. */
export const kept = open("localStorage");
/** Ends with the tab; the place of the token. */
export const ofTab = open("sessionStorage");

let isForgotten = false;

/** Everything this page wrote into the browser, gone; until the page is left nothing is written again. */
export function forgetBrowser() {
  isForgotten = true;
  for (const store of [kept, ofTab]) for (const name of store.names("")) store.remove(name);
}

/** A random id; `crypto.randomUUID` is missing on plain http over a network. */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

readAddress();
