import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { markupTexts as corpus } from "../tools/hostile-texts.ts";
import { launchChromium, type Tab, takeTab } from "./_browser.ts";
import { expectUnharmed } from "./_ui.ts";

const { test } = needs("chromium");

const mirror = join(import.meta.dirname, "../fixtures/plugins/model-mirror");
const plugins = ["store", "agents", "memory-core", "control-ui", mirror];

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  const notes = { "MEMORY.md": corpus.join("\n\n"), "memory/<img src=x onerror=pwned=1>.md": `# zebra\n\n${corpus.join("\n\n")}` };
  gateway = await createTestGateway({ plugins, workspace: notes });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});

async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

test(`${corpus.length} hostile texts stay texts in messages, titles, lists, errors and files`, async () => {
  const foreign: string[] = [];
  tab = await takeTab(browser);
  const { page } = tab;
  page.on(
    "request",
    (request) => !request.url().startsWith(gateway.url) && !request.url().startsWith("data:image/svg+xml") && foreign.push(request.url()),
  );
  for (const [i, text] of corpus.entries()) {
    await gateway.rpc("chat.send", { sessionKey: "agent:main:hostile", message: text, idempotencyKey: `hostile-${i}` });
    await gateway.rpc("chat.send", { sessionKey: `agent:main:${i}`, message: text, idempotencyKey: `title-${i}` });
    await gateway.rpc("agent.wait", { runId: `title-${i}` });
  }
  await gateway.rpc("agent.wait", { runId: `hostile-${corpus.length - 1}` });
  await gateway.rpc("sessions.patch", { key: "agent:main:1", label: "<img src=x onerror=pwned=1>" });
  await page.goto(`${gateway.url}/#token=${gateway.token}`);
  await page.getByText("Connected", { exact: true }).waitFor();

  await visit(page, "#/chat/agent%3Amain%3Ahostile");
  await page.locator(".turn").first().waitFor();
  for (let i = 0; i < 20; i++) await page.locator(".transcript").press("PageUp");
  await expectUnharmed(page);
  await page.locator(".transcript").press("End");
  await expectUnharmed(page);
  await visit(page, "#/sessions");
  await page.getByText("<img src=x onerror=pwned=1>").first().waitFor();
  await page.locator(".session", { hasText: "<img src=x onerror=pwned=1>" }).first().getByRole("button").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").waitFor();
  await expectUnharmed(page);
  await page.keyboard.press("Escape");
  await visit(page, `#/memory/file/${encodeURIComponent("memory/<img src=x onerror=pwned=1>.md")}?l=1-3`);
  await page.locator("mark").first().waitFor();
  await expectUnharmed(page);
  await visit(page, "#/memory/file/%3Cscript%3Epwned%3D1%3C%2Fscript%3E?l=<b>");
  await page.locator(".notice").waitFor();
  await visit(page, "#/%3Cimg%20src=x%20onerror=pwned=1%3E/x?y=<b>");
  await page.getByText("There is no page at this address.").waitFor();
  await visit(page, "#/sessions?q=%3Cscript%3Epwned=1%3C/script%3E");
  await page.getByRole("searchbox").waitFor();
  await expectUnharmed(page);

  expect(foreign).toEqual([]);
  expect(tab.problems).toEqual([]);
  await tab.leave();
});

test("what is shown of them is what was written", async () => {
  tab = await takeTab(browser);
  const { page } = tab;
  await page.goto(`${gateway.url}/#token=${gateway.token}`);
  await page.getByText("Connected", { exact: true }).waitFor();
  for (const text of ["<svg onload=pwned=1>", "<iframe src=javascript:parent.pwned=1></iframe>", "![x](https://evil.example/track.png)"]) {
    await visit(page, `#/chat/agent%3Amain%3A${corpus.indexOf(text)}`);
    await page.locator(".bubble", { hasText: text }).waitFor();
    await page.locator(".answer .md", { hasText: text }).waitFor();
  }

  expect(tab.problems).toEqual([]);
  await tab.leave();
});
