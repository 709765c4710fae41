import type { Browser, Page } from "playwright-core";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { launchChromium, openTab, type Tab } from "./_browser.ts";

const { test } = needs("chromium");

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "control-ui"],
    models: [fakeModel(Array(5).fill("It stands in the hall."))],
  });
  for (const [i, message] of ["Where is the router?", "Secret plan"].entries()) {
    const { runId } = await gateway.rpc<{ runId: string }>("chat.send", {
      sessionKey: `agent:main:${i}`,
      message,
      idempotencyKey: message,
    });
    await gateway.rpc("agent.wait", { runId });
  }
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});
afterEach(() => tab?.leave());

let isAway = false;

/** The network goes and comes, for requests and for sockets. */
async function setAway(away: boolean): Promise<void> {
  isAway = away;
  await tab.context.setOffline(away);
}

async function signIn(): Promise<Page> {
  tab = await openTab(browser);
  isAway = false;
  await tab.page.routeWebSocket(/.*/, (socket) => void (isAway ? socket.close() : socket.connectToServer()));
  await tab.page.goto(`${gateway.url}/#token=${gateway.token}`);
  await tab.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
  return tab.page;
}

const go = (page: Page, address: string) =>
  page.evaluate((hash) => {
    location.hash = hash;
  }, address);
const cacheNames = (page: Page) => page.evaluate(() => caches.keys());
const workers = (page: Page) => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);

test("a page that is kept is read without a network, and forgetting the browser erases it", async () => {
  const page = await signIn();
  expect([await workers(page), await cacheNames(page)]).toEqual([0, []]);
  await go(page, "#/chat/agent%3Amain%3A0");
  await page.locator(".answer", { hasText: "It stands in the hall." }).waitFor();
  await go(page, "#/about");
  const offline = page.getByRole("button", { name: "Keep for reading offline" });
  await offline.click();
  await expect.poll(() => offline.getAttribute("aria-pressed")).toBe("true");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  // All that the caches hold are files of the build: nothing that the gateway knows.
  const held = await page.evaluate(async () => {
    const requests = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });
  expect(held.length).toBeGreaterThan(50);
  expect(held.filter((path) => !/^\/assets\/[\w-]{12}\//.test(path))).toEqual([]);
  await page.reload();
  await page.getByRole("heading", { name: "About" }).waitFor();
  expect(tab.problems).toEqual([]);

  await setAway(true);
  await page.reload();
  await page
    .getByText(/Connection lost|Not connected/)
    .first()
    .waitFor();
  await go(page, "#/chat/agent%3Amain%3A0");
  await page.locator(".answer", { hasText: "It stands in the hall." }).waitFor();
  await page
    .getByText(/^As of /)
    .first()
    .waitFor();
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(gateway.token);
  await tab.picture("offline-chat-desktop");
  await setAway(false);
  await page.getByText("Connected", { exact: true }).waitFor();
  await page.locator(".answer", { hasText: "It stands in the hall." }).waitFor();

  await go(page, "#/about");
  await page.getByRole("button", { name: "Forget this browser" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
  await page
    .getByRole("button", { name: /Sign in|Connect/ })
    .first()
    .waitFor();
  expect([await workers(page), await cacheNames(page)]).toEqual([0, []]);
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain("hall");
});

test("the policy accepts the worker of this build and nothing else, and no second policy", async () => {
  const page = await signIn();
  const outcome = await page.evaluate(`(async () => {
    const main = document.querySelector("script[src$='/main.js']").src;
    const worker = new URL("worker.js", main).href;
    const tried = [];
    const attempt = async (name, work) => tried.push([name, await Promise.resolve().then(work).then(() => "taken", (error) => error.name)]);
    await attempt("a plain address", () => navigator.serviceWorker.register(worker));
    await attempt("another policy", () => trustedTypes.createPolicy("mine", { createScriptURL: (url) => url }));
    return tried;
  })()`);
  expect(outcome).toEqual([
    ["a plain address", "TypeError"],
    ["another policy", "TypeError"],
  ]);
  expect(await workers(page)).toBe(0);
});
