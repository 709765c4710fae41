import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page, WebSocketRoute } from "playwright-core";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, openTab, phone, type Tab } from "./_browser.ts";
import { hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

const OLD_SECRET = "first-secret-of-the-tracker";
const NEW_SECRET = "second-secret-of-the-tracker";

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "operator", "control-ui", "mcp-client", "mcp-server"],
    config: {
      gateway: { reload: { mode: "hot" } },
      mcp: {
        servers: {
          tracker: { url: "http://127.0.0.1:9/mcp", headers: { "x-api-key": OLD_SECRET } },
          strange: { command: "/nowhere/<img src=x onerror=pwned=1>", args: hostileTexts },
        },
      },
    },
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});
afterEach(async () => {
  // A test that failed half way has edits, and the page would not let itself be left.
  await tab?.page.evaluate("addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)").catch(() => undefined);
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

async function visit(address: string, options: Parameters<typeof visitView>[3] = desktop): Promise<Page> {
  tab = await visitView(browser, gateway, address, options);
  return tab.page;
}

interface Config {
  hash: string;
  parsed: Record<string, Record<string, unknown> | undefined>;
  pendingRestart: string[];
}
const config = () => gateway.rpc<Config & Record<string, unknown>>("config.get");
/** Change of the config by somebody else. */
const patch = async (change: object, more: object = {}) =>
  gateway.rpc("config.patch", { raw: JSON.stringify(change), baseHash: (await config()).hash, ...more });
const stored = async (section: string, key: string) => (await config()).parsed[section]?.[key];
const file = () => readFile(join(gateway.stateDir, "svc.json"), "utf8");

const setting = (page: Page, path: string) => page.locator(".setting").filter({ has: page.getByText(path, { exact: true }) });
const dialogOf = (page: Page) => page.getByRole("dialog");
const review = async (page: Page): Promise<Locator> => {
  await page.getByRole("button", { name: "Review changes" }).click();
  await dialogOf(page).getByRole("button", { name: "Save" }).waitFor();
  return dialogOf(page);
};

describe("the form", () => {
  test("says what waits for a restart, and asks before it restarts", async () => {
    const page = await visit("#/config/gateway.port");
    const field = page.getByRole("textbox", { name: "Port", exact: true });
    await field.fill("70000");
    await setting(page, "gateway.port").getByText("Expected a whole number from 1 to 65535.").waitFor();
    expect(await page.getByRole("button", { name: "Review changes" }).getAttribute("aria-disabled")).toBe("true");
    await field.fill("18790");
    await (await review(page)).getByText(/1 change needs a restart/).waitFor();
    await dialogOf(page).getByRole("button", { name: "Save" }).click();
    await page.getByText("1 saved change waits for a restart").waitFor();
    await page.getByRole("button", { name: "Restart the gateway" }).click();
    await dialogOf(page)
      .getByText(/Answers that are being written end first/)
      .waitFor();
    await page.keyboard.press("Escape");
    await patch({ gateway: { port: null } });
    await page.getByText("1 saved change waits for a restart").waitFor({ state: "detached" });
  });

  test("asks before it is left with edits, keeps them, and throws them away when told to", async () => {
    const page = await visit("#/config/logging.level");
    await page.getByRole("combobox", { name: "Level", exact: true }).selectOption("debug");
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "About" }).click();
    await dialogOf(page).getByText("Leave with unsaved changes?").waitFor();
    await page.keyboard.press("Escape");
    expect(new URL(page.url()).hash).toBe("#/config/logging.level");
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "About" }).click();
    await dialogOf(page).getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { name: "About", level: 1 }).waitFor();
    await page.evaluate("location.hash = '#/config/logging'");
    await page.getByText("1 change not saved").waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await dialogOf(page).getByRole("button", { name: "Discard" }).click();
    await page.getByText("1 change not saved").waitFor({ state: "detached" });
  });

  test("keeps edits over a lost connection and beside what others write, and saves them on top of it", async () => {
    let socket: WebSocketRoute | undefined;
    tab = await openTab(browser);
    const { page } = tab;
    await page.routeWebSocket(/.*/, (route) => {
      socket = route;
      const server = route.connectToServer();
      server.onMessage((message) => route.send(message));
    });
    await page.goto(`${gateway.url}/#token=${gateway.token}`);
    await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    await page.evaluate("location.hash = '#/config/logging.level'");
    const level = page.getByRole("combobox", { name: "Level", exact: true });
    await level.selectOption("debug");
    await socket?.close({ code: 3000 });
    await page.getByText("Connected", { exact: true }).waitFor({ state: "detached" });
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(await level.locator("option:checked").innerText()).toBe("debug");

    await patch({ gateway: { publicOrigin: "https://theirs.example" } });
    await page.getByText("Somebody else has changed the config.").waitFor();
    expect(await level.locator("option:checked").innerText()).toBe("debug");
    const dialog = await review(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/Not saved: somebody else has changed the config meanwhile/).waitFor();
    expect(await dialog.locator(".changes li").count()).toBe(1);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("Saved and applied.").waitFor();
    expect([await stored("logging", "level"), await stored("gateway", "publicOrigin")]).toEqual(["debug", "https://theirs.example"]);
    await patch({ logging: null, gateway: { publicOrigin: null } });
  });

  test("replaces a secret that it never shows", async () => {
    const page = await visit("#/config/mcp.servers.tracker.headers.x-api-key");
    const key = setting(page, "mcp.servers.tracker.headers.x-api-key");
    await key.getByText("Set", { exact: true }).waitFor();
    await key.getByRole("button", { name: "Replace: x-api-key" }).click();
    await key.getByLabel("x-api-key", { exact: true }).fill(NEW_SECRET);
    const dialog = await review(page);
    expect(await dialog.locator(".changes").innerText()).toMatch(/set → a new value/);
    const traces = () =>
      page.evaluate(() =>
        [document.documentElement.outerHTML, location.href, JSON.stringify({ ...localStorage, ...sessionStorage })].join(),
      );
    expect(await traces()).not.toMatch(/-secret-of-the-tracker/);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("Saved and applied.").waitFor();
    await key.getByText("Set", { exact: true }).waitFor();
    expect(await traces()).not.toMatch(/-secret-of-the-tracker/);
    expect(await page.locator("main input").evaluateAll((inputs) => inputs.map((one) => (one as HTMLInputElement).value))).not.toContain(
      NEW_SECRET,
    );
    expect(await file()).toContain(NEW_SECRET);
    expect(await file()).not.toContain(OLD_SECRET);
    expect(JSON.stringify(gateway.logs)).not.toContain(NEW_SECRET);
  });

  test("draws maps of hundreds a page at a time, and adds to them by name", async () => {
    const vars = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`VAR_${i}`, `value of ${i}`]));
    await patch({ env: { vars } });
    const page = await visit("#/config/env.vars");
    await page.getByText("50 of 300").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("100 of 300").waitFor();
    expect(await page.locator(".setting").count()).toBeLessThan(120);
    await page.getByLabel("Name of one more of Vars").fill("no name");
    await page.getByRole("button", { name: "Add to Vars" }).click();
    await page
      .getByRole("alert")
      .getByText(/Not a name for this/)
      .waitFor();
    await patch({ env: null }, { replacePaths: ["env"] });
  });

  test("keeps hostile values as texts", async () => {
    const page = await visit("#/config/mcp.servers.strange.args");
    await page.getByRole("textbox", { name: "Args, row 1" }).waitFor();
    expect(
      await page.getByRole("textbox", { name: /^Args, row/ }).evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value)),
    ).toEqual(hostileTexts);
    expect(await markupOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove row 1 of Args" }).click();
    const dialog = await review(page);
    expect(await dialog.locator("img, script, svg").count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Undo: Args" }).click();
  });
});

test("the file is changed as a text, with its own difference", async () => {
  const page = await visit("#/config?v=raw");
  const text = page.getByRole("textbox", { name: "Text of the config file" });
  await text.waitFor();
  expect(await text.inputValue()).toContain("__SVC_REDACTED__");
  await text.fill((await text.inputValue()).replace("{", '{"logging":{"level":"wrong"},'));
  await page.getByRole("button", { name: "Review changes" }).click();
  const dialog = dialogOf(page);
  expect(await dialog.getByRole("region", { name: "Difference" }).innerText()).toMatch(/\+ .*"level":"wrong"/);
  await dialog.getByRole("button", { name: "Save and apply" }).click();
  await dialog
    .getByRole("alert")
    .getByText(/logging\.level/)
    .waitFor();
  await tab.picture("config-raw-desktop");
  await page.keyboard.press("Escape");
  await text.fill((await text.inputValue()).replace('"wrong"', '"warn"'));
  await page.getByRole("button", { name: "Review changes" }).click();
  await dialog.getByRole("button", { name: "Save and apply" }).click();
  await page.getByRole("status").getByText("Saved and applied.").waitFor();
  expect(await stored("logging", "level")).toBe("warn");
  expect(await file()).not.toContain("__SVC_REDACTED__");
  await patch({ logging: null });
});

test("by keyboard: from anywhere to a setting, through its change and the review, and saved", async () => {
  const page = await visit("#/overview");
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await page.getByRole("searchbox", { name: "Search settings" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("logging level");
  await page
    .getByRole("link", { name: /logging\.level/ })
    .first()
    .waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await eventually(() => page.evaluate("document.activeElement.tagName === 'SELECT'"));
  await page.keyboard.type("debug");
  await page.getByText("1 change not saved").waitFor();
  const isAt = (words: string) => page.evaluate((text) => document.activeElement?.textContent === text, words);
  for (let i = 0; i < 60 && !(await isAt("Review changes")); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await dialogOf(page).getByRole("button", { name: "Save" }).waitFor();
  expect(await isAt("Cancel")).toBe(true);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("Saved and applied.").waitFor();
  expect(await stored("logging", "level")).toBe("debug");
  await patch({ logging: null });
});

describe("MCP servers", () => {
  const row = (page: Page, name: string) => page.locator(".foldable").filter({ hasText: name });

  test("are shown with their troubles, added with a mistake that stands at its field, and removed with the loss named", async () => {
    const page = await visit("#/mcp");
    await row(page, "strange").getByRole("button", { expanded: false }).click();
    await row(page, "strange").getByText("/nowhere/").first().waitFor();
    expect(await markupOf(page)).toEqual([]);
    await tab.picture("mcp-desktop");
    await page.getByRole("button", { name: "Add a server" }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel("Name").fill("Papers");
    await dialog.getByLabel("Command").fill('"/nowhere/paper server" --all');
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog
      .getByRole("alert")
      .getByText(/A small letter/)
      .waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add a server" }).click();
    expect(await dialog.getByLabel("Command").inputValue()).toBe('"/nowhere/paper server" --all');
    await dialog.getByLabel("Name").fill("papers");
    await tab.picture("mcp-add-desktop");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await row(page, "papers").waitFor();
    expect(await stored("mcp", "servers")).toMatchObject({ papers: { command: "/nowhere/paper server", args: ["--all"] } });
    await row(page, "papers").getByRole("button", { name: "Reconnect: papers" }).click();
    await page.getByRole("status").getByText("papers is being connected anew.").waitFor();
    await row(page, "papers").getByRole("button", { expanded: false }).click();
    await row(page, "papers").getByRole("button", { name: "Remove: papers" }).click();
    await dialog.getByText(/Its settings and secrets go from the config/).waitFor();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await row(page, "papers").waitFor({ state: "detached" });
    expect(Object.keys((await stored("mcp", "servers")) as object)).toEqual(["tracker", "strange"]);
  });

  test("say what this gateway offers to clients, and how they get in", async () => {
    const page = await visit("#/mcp");
    const own = page.getByRole("region", { name: "This gateway as a server" });
    await own.getByText("ask_agent", { exact: true }).waitFor();
    await own.getByText(`${gateway.url}/mcp`).waitFor();
    await own.getByText('{"mcpServers":{"svc":{"command":"svc","args":["mcp"]}}}').waitFor();
  });

  test("have their tools by the names that agents see, and a login by an address and its answer", async () => {
    const asked: string[] = [];
    const change = (text: string) => {
      const frame = JSON.parse(text) as { type: string; ok?: boolean; payload?: { servers?: unknown }; error?: { message?: string } };
      if (frame.type !== "res") return text;
      if (Array.isArray(frame.payload?.servers)) {
        const tools = ["mcp_tracker_list", ...hostileTexts];
        const servers = [{ name: "tracker", transport: "http", state: "login", problem: "it wants a login", loggedIn: false, tools }];
        return JSON.stringify({ ...frame, payload: { servers } });
      }
      const login = /MCP server "?tracker|tracker/.test(frame.error?.message ?? "") || /package/.test(frame.error?.message ?? "");
      if (frame.ok !== false || !login) return text;
      asked.push(String(frame.error?.message));
      const { error: _, ...rest } = frame;
      const payload = asked.length === 1 ? { ok: true, authorizationUrl: "https://login.example/authorize?x=1" } : { ok: true };
      return JSON.stringify({ ...rest, ok: true, payload });
    };
    tab = await visitChanged(browser, gateway, "#/mcp", change);
    const { page } = tab;
    const tracker = row(page, "tracker");
    await tracker.getByText("needs a login", { exact: true }).waitFor();
    await tracker.getByRole("button", { expanded: false }).click();
    await tracker.getByText("mcp_tracker_list", { exact: true }).waitFor();
    expect(await markupOf(page)).toEqual([]);
    await tracker.getByRole("button", { name: "Log in: tracker" }).click();
    const dialog = dialogOf(page);
    await dialog.getByRole("button", { name: "Begin" }).click();
    const link = dialog.getByRole("link", { name: "Open the login" });
    expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([
      "https://login.example/authorize?x=1",
      "noopener noreferrer",
    ]);
    await tab.picture("mcp-login-desktop");
    const answer = dialog.getByRole("textbox");
    await answer.fill("https://login.example/");
    await dialog.getByRole("button", { name: "Finish" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/There is no answer in this/)
      .waitFor();
    await answer.fill("http://127.0.0.1:47647/callback?code=abc&state=1");
    await dialog.getByRole("button", { name: "Finish" }).click();
    await page.getByRole("status").getByText("Logged in at tracker.").waitFor();
    expect(asked).toHaveLength(2);
  });
});

test("who may only read sees both, and why nothing can be changed", async () => {
  tab = await visitChanged(browser, gateway, "#/config/gateway.port", without("admin|write|approvals|pairing"));
  const { page } = tab;
  await page.getByText("This sign-in is not an administrator's: settings can be read, not changed.").waitFor();
  expect(await page.getByRole("textbox", { name: "Port", exact: true }).getAttribute("readonly")).not.toBeNull();
  await page.evaluate("location.hash = '#/mcp'");
  expect(await page.getByRole("button", { name: "Add a server" }).getAttribute("title")).toBe("This sign-in is not an administrator's");
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing in either, light and dark, and nothing scrolls sideways: %s", async (name, options) => {
  const shot = name.replace(/ /g, "-");
  const page = await visit("#/config", options);
  await page.getByRole("navigation", { name: "Sections" }).waitFor();
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture(`config-sections-${shot}`);
  await page.evaluate("location.hash = '#/config/gateway.auth.token'");
  await setting(page, "gateway.auth.token").waitFor();
  expect(await isOneColumn(page)).toBe(true);
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`config-${shot}`);
  await page.emulateMedia({ colorScheme: "dark" });
  await tab.picture(`config-${shot}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.evaluate("location.hash = '#/config/logging.level'");
  await page.getByRole("combobox", { name: "Level", exact: true }).selectOption("debug");
  await review(page);
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Undo: Level" }).click();
  await page.evaluate("location.hash = '#/mcp'");
  await page.locator(".foldable").first().getByRole("button").first().click();
  await page.getByText("ask_agent", { exact: true }).waitFor();
  expect(await isOneColumn(page)).toBe(true);
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`mcp-${shot}`);
});
