import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab } from "./_browser.ts";
import { failing, hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  const usage = { input: 1_200, output: 340, cacheRead: 50, cacheWrite: 0, total: 1_590, cost: 0.0123 };
  gateway = await createTestGateway({
    plugins: ["store", "agents", "operator", "devices", "usage", "audit", "control-ui"],
    models: [fakeModel(Array(20).fill({ text: "Done.", usage }))],
    workspace: { "SOUL.md": "# Soul\n\nCalm and short.\n" },
  });
  for (const text of ["What is open?", hostileTexts[0] as string]) {
    const { runId } = await gateway.rpc<{ runId: string }>("chat.send", {
      sessionKey: `agent:main:${text.length}`,
      message: text,
      idempotencyKey: text,
    });
    await gateway.rpc("agent.wait", { runId });
  }
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

async function visit(address: string, options: Parameters<typeof visitView>[3] = desktop): Promise<Page> {
  tab = await visitView(browser, gateway, address, options);
  return tab.page;
}

const soul = (page: Page) => page.getByRole("textbox", { name: "SOUL.md" });

describe("usage", () => {
  test("is told by day, agent and model, for the time that the address names, and by session", async () => {
    const page = await visit("#/usage");
    await page.getByText(/^2 runs, 3,180 tokens, \$0\.02\.$/).waitFor();
    await page.getByText(/^1 day with use, at most 3,180 tokens on /).waitFor();
    await page.getByRole("button", { name: "By model" }).click();
    const row = page.getByRole("row", { name: /fake\/script/ });
    expect((await row.getByRole("cell").allInnerTexts()).map((text) => text.trim())).toEqual(["2", "2,400", "680", "100", "$0.02"]);
    await page.getByRole("button", { name: "7 days" }).click();
    expect(page.url()).toMatch(/#\/usage\?by=model&days=7$/);
    await page.getByRole("link", { name: /What is open\?/ }).waitFor();
    expect(await markupOf(page)).toEqual([]);
    await tab.picture("usage-desktop");
  });
});

describe("the audit log", () => {
  test("shows what was done, is read again and filtered, and opens to what an entry holds", async () => {
    const page = await visit("#/audit");
    await page.locator(".foldable").first().waitFor();
    await gateway.rpc("agents.update", { agentId: "main", name: "Helper" });
    const entry = page.locator(".foldable").filter({ hasText: "agents.update" }).first();
    await page.getByRole("button", { name: "Read again" }).click();
    await entry.waitFor();
    await entry.getByRole("button").click();
    await entry.getByText("hash", { exact: true }).waitFor();
    await tab.picture("audit-desktop");
    await page.getByRole("combobox", { name: "What was done" }).selectOption("config.");
    await page.locator(".foldable").filter({ hasText: "config.changed" }).first().waitFor();
    expect(await page.locator(".foldable").filter({ hasText: "agents.update" }).count()).toBe(0);
    await page.getByRole("textbox", { name: "Who did it" }).fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("No entry matches").waitFor();
    await page.getByRole("button", { name: "Show everything" }).click();
    await entry.waitFor();
  });

  test("is checked by a press, and its newest place can be taken away", async () => {
    const page = await visit("#/audit");
    await page.getByRole("button", { name: "Check the chain" }).click();
    await page.getByText(/entries checked: none was changed or removed up to entry/).waitFor();
    await page.getByRole("button", { name: "Copy the newest place" }).waitFor();
  });

  test("is for administrators: others read one line", async () => {
    tab = await visitChanged(
      browser,
      gateway,
      "#/audit",
      failing("entries", () => ({ code: "FORBIDDEN", message: "missing scope: operator.admin" })),
    );
    await tab.page.getByText("This sign-in is not allowed to see audit entries.").waitFor();
  });
});

describe("agents", () => {
  test("show model, tools and files; a file is edited, kept over a reload, and saved", async () => {
    const page = await visit("#/agents");
    await page.getByText("fake/script").first().waitFor();
    await page.getByRole("heading", { name: "Tools" }).waitFor();
    await tab.picture("agents-desktop");
    await page.getByRole("link", { name: "SOUL.md" }).click();
    expect(await soul(page).inputValue()).toBe("# Soul\n\nCalm and short.\n");
    await soul(page).fill("# Soul\n\nCalm, short, and kind.\n");
    await tab.picture("editor-desktop");
    await page.getByRole("link", { name: "Agents" }).last().click();
    await page.getByRole("heading", { name: "Files" }).waitFor();
    await page.goBack();
    await page.reload();
    expect(await soul(page).inputValue()).toBe("# Soul\n\nCalm, short, and kind.\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("SOUL.md was saved.").waitFor();
    const { file } = await gateway.rpc<{ file: { content: string } }>("agents.files.get", { agentId: "main", name: "SOUL.md" });
    expect(file.content).toBe("# Soul\n\nCalm, short, and kind.\n");
  });

  test("a file that somebody else has changed is not overwritten unasked, and nothing typed is lost", async () => {
    const page = await visit("#/agents?a=main&file=SOUL.md");
    await soul(page).fill("mine");
    await writeFile(join(gateway.workspace, "SOUL.md"), "theirs");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/somebody has changed the file/).waitFor();
    expect(await soul(page).inputValue()).toBe("mine");
    await tab.picture("editor-conflict-desktop");
    await page.getByRole("button", { name: "Save mine over theirs" }).click();
    await page.getByRole("status").getByText("SOUL.md was saved.").waitFor();
    await soul(page).fill("mine again");
    await writeFile(join(gateway.workspace, "SOUL.md"), hostileTexts.join("\n"));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Take theirs, drop mine" }).click();
    await expect.poll(() => soul(page).inputValue()).toBe(hostileTexts.join("\n"));
    expect(await markupOf(page)).toEqual([]);
  });

  test("are renamed and given a model, and what the gateway refuses stands in the question", async () => {
    const page = await visit("#/agents");
    await page.getByRole("button", { name: /^Rename/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill(hostileTexts[1] as string);
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.locator(".foldable").filter({ hasText: "<svg onload" }).waitFor();
    expect(await markupOf(page)).toEqual([]);
    await page.getByRole("button", { name: /^Set model/ }).click();
    await dialog.getByLabel("Model").fill("nobody/nothing");
    await dialog.getByRole("button", { name: "Set" }).click();
    await dialog.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
  });

  test("readers see them, and why buttons do nothing", async () => {
    tab = await visitChanged(browser, gateway, "#/agents", without("admin|write"));
    const button = tab.page.getByRole("button", { name: /^Rename/ });
    await button.waitFor();
    expect(await button.getAttribute("title")).toBe("This sign-in is not an administrator's");
    await tab.page.getByRole("link", { name: "SOUL.md" }).click();
    await soul(tab.page).waitFor();
    expect(await soul(tab.page).getAttribute("readonly")).not.toBeNull();
  });
});

test("by keyboard: to each with two letters or the palette, into a file and back", async () => {
  const page = await visit("#/overview");
  await page.keyboard.press("g");
  await page.keyboard.press("u");
  await page.getByRole("heading", { name: "Usage" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("audit");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Audit", exact: true }).waitFor();
  await page.locator("main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  const link = page.getByRole("link", { name: "SOUL.md" });
  await link.focus();
  await page.keyboard.press("Enter");
  await soul(page).waitFor();
  await page.goBack();
  await link.waitFor();
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing in any of them, light and dark, in one column: %s", async (name, options) => {
  const page = await visit("#/usage", options);
  for (const [view, sign] of [
    ["usage", "table tbody tr"],
    ["audit", ".foldable"],
    ["agents", ".files a"],
    ["agents?a=main&file=SOUL.md", "textarea"],
  ] as const) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${view}`);
    await page.locator(sign).first().waitFor();
    expect(await axeViolationsInBothSchemes(page), view).toEqual([]);
    expect(await isOneColumn(page), view).toBe(true);
    await tab.picture(`${view.replace(/\W.*/, "-editor")}-${name.replace(/ /g, "-")}`);
  }
});
