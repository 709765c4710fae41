// Service worker of one build: it keeps the files of that build and nothing else. What the gateway knows never passes through it; without a
// network it answers an address of the page with the page itself, which carries no data.

const worker = /** @type {any} */ (self);
/** Filled in when it is served. */
const files = "{{files}}".split(" ");
const root = new URL("./", worker.location.href).href;
const prefix = "svc-assets:";
const cacheName = `${prefix}${root}`;

worker.addEventListener("install", (/** @type {any} */ event) => {
  const keep = async () => {
    const cache = await caches.open(cacheName);
    await cache.addAll(files.map((file) => root + file));
    await worker.skipWaiting();
  };
  event.waitUntil(keep());
});

worker.addEventListener("activate", (/** @type {any} */ event) => {
  const clean = async () => {
    const base = new URL("../../", root).href;
    const old = (await caches.keys()).filter((one) => one.startsWith(`${prefix}${base}assets/`) && one !== cacheName);
    await Promise.all(old.map((one) => caches.delete(one)));
    await worker.clients.claim();
  };
  event.waitUntil(clean());
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.url.startsWith(root)) event.respondWith(fromCache(request));
  else if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => fromCache(`${root}page.html`)));
});

/** @param {Request | string} request */
async function fromCache(request) {
  const cache = await caches.open(cacheName);
  return (await cache.match(request)) ?? fetch(request);
}
