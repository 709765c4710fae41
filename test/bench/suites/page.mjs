import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { makeHome, spawnGateway } from "../lib/gateway.mjs";
import { median } from "../lib/stats.mjs";

/** The processor of a page is slowed so many times. */
const SLOWER = 4;
/** Charts come a while after everything else; what moves then counts. */
const SETTLED_MS = 2_500;

/** First load of the control UI in Chromium with an empty cache, against a page that has the same heading and field and no script. */
export async function run({ quick, row, note }) {
  const executablePath = chromiumPath();
  if (!executablePath) return note("page: skipped, there is no Chromium here (`CHROMIUM_PATH`, or `chromium` in `PATH`)");
  const { chromium } = await import("playwright-core");
  const home = makeHome();
  const gateway = await spawnGateway(home);
  const bare = await servePlainPage();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    await gateway.ready();
    const token = gateway.headers.authorization.replace("Bearer ", "");
    const [ours, baseline] = [[], []];
    // One more than is counted: the first visit compresses the files.
    for (let round = 0; round <= (quick ? 2 : 3); round += 1) {
      ours.push(await visit(browser, `${gateway.url}/#token=${token}`));
      baseline.push(await visit(browser, bare.url));
    }
    const middle = (list, figure) => median(list.slice(1).map((one) => one[figure]));
    const both = (figure) => ({ ours: middle(ours, figure), baseline: middle(baseline, figure), n: ours.length - 1 });
    row({ id: "U1", metric: "page, first paint, slowed 4 times", unit: "ms", target: 300, targetOf: "ours", ...both("painted") });
    row({ id: "U2", metric: "page, largest contentful paint, slowed 4 times", unit: "ms", ...both("largest") });
    row({
      id: "U3",
      metric: "page, hello-ok → usable, slowed 4 times",
      unit: "ms",
      target: 800,
      targetOf: "ours",
      ours: middle(ours, "usable"),
    });
    row({
      id: "U4",
      metric: "page, layout shift (1,000 = the whole view)",
      unit: "‰",
      target: 20,
      targetOf: "ours",
      ours: middle(ours, "shift"),
    });
  } finally {
    await browser.close();
    bare.close();
    await gateway.stop();
    home.remove();
  }
}

function chromiumPath() {
  const inPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "chromium"));
  return [process.env.CHROMIUM_PATH, ...inPath].find((path) => path && existsSync(path));
}

async function servePlainPage() {
  const html = `<!doctype html><title>plain</title><main><h1>Running for 1 s. Everything works.</h1><input id="ask"></main>`;
  const server = createServer((_req, res) => res.writeHead(200, { "Content-Type": "text/html" }).end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** Figures of one load in a new profile, ms since its begin, and thousandths of the view. */
async function visit(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    await page.addInitScript(watch);
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    await page.goto(address);
    await page.waitForFunction(() => window.seen.usableAt !== undefined, undefined, { timeout: 30_000 });
    await page.waitForTimeout(SETTLED_MS);
    return await page.evaluate(() => ({
      painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
      largest: window.seen.largest,
      usable: window.seen.usableAt - (window.seen.helloAt ?? 0),
      shift: window.seen.shift * 1_000,
    }));
  } finally {
    await context.close();
  }
}

/** Runs in the page before anything else. */
function watch() {
  const seen = { shift: 0, largest: 0, helloAt: undefined, usableAt: undefined };
  window.seen = seen;
  const observe = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  observe("largest-contentful-paint", ({ startTime }) => {
    seen.largest = startTime;
  });
  observe("layout-shift", ({ value }) => {
    seen.shift += value;
  });
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", ({ data }) => {
        if (String(data).includes('"hello-ok"')) seen.helloAt ??= performance.now();
      });
    }
  };
  const look = () => {
    const isUsable = document.getElementById("ask") && /^Running for/.test(document.querySelector("main h1")?.textContent ?? "");
    if (isUsable) seen.usableAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
