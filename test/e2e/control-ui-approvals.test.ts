import type { Browser, Page } from "playwright-core";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolations, desktop, launchChromium, phone, type Tab, takeTab } from "./_browser.ts";

const { test } = needs("chromium");

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["store", "agents", "model-recall", "memory-core", "control-ui", "approvals", "devices"] });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});
afterEach(async () => {
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

async function signIn(options: Parameters<typeof takeTab>[1] = desktop): Promise<Page> {
  tab = await takeTab(browser, options);
  await tab.page.goto(`${gateway.url}/#token=${gateway.token}`);
  await tab.page.getByText("Connected", { exact: true }).waitFor();
  return tab.page;
}

test("a request for approval that comes while a page is connected is shown in Needs you and answered there, instead of ending as no-route", async () => {
  const page = await signIn();

  const first = gateway.rpc("exec.approval.request", { command: "rm -rf /tmp/x && echo <b>gone</b>", agentId: "main", cwd: "/srv/site" });
  const card = page.locator(".approval").filter({ hasText: "Agent main asks to run a command" });
  await card.getByText("rm -rf /tmp/x && echo <b>gone</b>").waitFor();
  expect(await card.getByText(/expires in (30|29) min/).count()).toBe(1);
  await page.getByRole("button", { name: "Needs you: 1" }).waitFor();
  await page.getByRole("heading", { level: 1, name: /1 request waits for your approval/ }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await tab.picture("approvals-desktop");

  await card.getByRole("button", { name: "Deny" }).click();
  expect(await first).toMatchObject({ decision: "deny", id: expect.any(String) });
  await card.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /Needs you/ }).waitFor({ state: "detached" });
});

test("a page that connects later shows what waits already, and another answer takes it away", async () => {
  const other = await gateway.ws({ caps: ["approvals"] });
  const answer = gateway.rpc("plugin.approval.request", { title: "Send the mail?", description: "To ann@example.org", pluginId: "mail" });
  const { id } = await other.event("plugin.approval.requested");

  const page = await signIn({ ...phone, dark: true });
  const card = page.locator(".approval").filter({ hasText: "Plugin mail asks: Send the mail?" });
  await card.waitFor();
  await tab.picture("approvals-phone-dark");
  await other.request("plugin.approval.resolve", { id, decision: "allow-once" });

  expect(await answer).toMatchObject({ decision: "allow-once" });
  await card.waitFor({ state: "detached" });
});
