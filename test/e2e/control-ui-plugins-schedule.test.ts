import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { CRON_SCOPE, cronJobKey } from "svc/sdk/internal";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab } from "./_browser.ts";
import { failing, hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

const fixture = (name: string) => join(import.meta.dirname, "../fixtures/plugins", name);
const hostile = hostileTexts.join(" ");

let folder: string;
let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-ui-views-"));
  const plugins = ["store", "agents", "messaging", "cron", "operator", "devices", "control-ui"];
  const strange = await strangePlugin(join(folder, "strange"));
  const stateDir = join(folder, "state");
  await mkdir(join(stateDir, "gateway"), { recursive: true });
  const blame = { at: Date.parse("2026-11-01T10:00:00Z"), ms: 60_000, what: "method hook-probe.seen", stack: ["at index.ts:3"] };
  await writeFile(join(stateDir, "gateway/quarantine.json"), JSON.stringify({ version: 1, plugins: { "hook-probe": blame } }));
  gateway = await createTestGateway({
    plugins: [...plugins, ...["throws-at-load", "leaky", "hook-probe"].map(fixture), strange],
    models: [fakeModel(Array(50).fill("Nothing is open."))],
    config: {
      plugins: {
        entries: {
          leaky: { enabled: true },
          "throws-at-load": { enabled: true },
          "hook-probe": { enabled: true, grants: ["hooks.conversation", "hooks.prompt", "hooks.gate"] },
          strange: { enabled: true },
        },
      },
    },
    stateDir,
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(async () => {
  const { jobs } = await gateway.rpc<{ jobs: Array<{ id: string }> }>("cron.list", { includeDisabled: true });
  for (const { id } of jobs) await gateway.rpc("cron.remove", { id });
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

/** A plugin whose every text is hostile, and which fails with one. */
async function strangePlugin(path: string): Promise<string> {
  await mkdir(path);
  const manifest = {
    id: "strange",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    name: hostileTexts[0],
    description: hostile,
  };
  await writeFile(join(path, "svc.plugin.json"), JSON.stringify(manifest));
  await writeFile(join(path, "index.ts"), `throw new Error(${JSON.stringify(hostile)});\n`);
  return path;
}

async function visit(address: string, options: Parameters<typeof visitView>[3] = desktop): Promise<Page> {
  tab = await visitView(browser, gateway, address, options);
  return tab.page;
}

/** A job for the list. */
const planJob = () =>
  gateway.rpc("cron.add", {
    ...{ name: "A job with a rather long name that does not fit", schedule: { kind: "cron", expr: "0 7 * * 1-5", tz: "Europe/Berlin" } },
    ...{ sessionTarget: "isolated", wakeMode: "now", payload: { kind: "agentTurn", message: "Report." } },
  });

const item = (page: Page, name: string | RegExp) => page.locator(".foldable").filter({ hasText: name });
const plugin = async (id: string) =>
  (await gateway.rpc<{ plugin: { runtime: { state: string } } }>("plugins.inspect", { pluginId: id })).plugin;

describe("plugins", () => {
  test("that need somebody come first, with reason, place and what helps", async () => {
    const page = await visit("#/plugins?f=trouble");
    const failed = item(page, "throws-at-load");
    await failed.getByText(/import-failed: .*this module throws while it loads/).waitFor();
    expect(await failed.innerText()).toMatch(/index\.ts/);
    await failed.getByText(/What to do: its module throws while loading/).waitFor();
    expect(await failed.getByRole("button").allInnerTexts()).toEqual(expect.arrayContaining(["Try again", "Disable"]));
    await failed.getByRole("button", { name: /^Try again/ }).click();
    await failed
      .getByRole("alert")
      .getByText(/this module throws while it loads/)
      .waitFor();
    await failed.getByRole("button", { expanded: false }).click();
    await failed.getByText(/throws-at-load\/index\.ts:1:\d+$/).waitFor();
    await tab.picture("plugins-trouble-desktop");
  });

  test("are let out of quarantine by a press", async () => {
    const page = await visit("#/plugins");
    const guilty = item(page, "hook-probe");
    await guilty.getByText("quarantined", { exact: true }).waitFor();
    await guilty.getByText(/it blocked the event loop for 60 s \(method hook-probe\.seen\)/).waitFor();
    await guilty.getByRole("button", { name: /^Let it load again/ }).click();
    await guilty.getByText("quarantined", { exact: true }).waitFor({ state: "detached" });
    expect(["active", "ready"]).toContain((await plugin("hook-probe")).runtime.state);
  });

  test("open to what they add and how they are configured, are disabled with the loss named, and follow what others do", async () => {
    const page = await visit("#/plugins?q=leaky");
    const leaky = item(page, "leaky");
    await leaky.getByRole("button", { expanded: false }).click();
    await leaky.getByText("leaky.ping").waitFor();
    expect(await leaky.locator(".detail").innerText()).toMatch(/tool\s+leak[\s\S]*greeting/);
    await leaky.getByText("svc config set plugins.entries.leaky.config.greeting <value>").waitFor();
    expect(await leaky.getByRole("link", { name: "Change it in Config" }).getAttribute("href")).toBe(
      "#/config/plugins.entries.leaky.config",
    );
    await page.getByLabel("Name on npm, folder, or .tgz archive").fill("/srv/my plugin");
    await page.getByText("Or on the command line").click();
    await page.getByText("svc plugins install '/srv/my plugin'").waitFor();
    await tab.picture("plugins-open-desktop");
    await leaky.getByRole("button", { name: "Disable: leaky" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/What it adds goes at once: 1 tool, 1 method, 2 HTTP routes\. Its config is kept\./).waitFor();
    await dialog.getByRole("button", { name: "Disable" }).click();
    await leaky.getByText("off", { exact: true }).waitFor();
    expect((await plugin("leaky")).runtime.state).toBe("disabled");

    await gateway.rpc("plugins.setEnabled", { pluginId: "leaky", enabled: true });
    await leaky.getByText(/^(active|loads when used)$/).waitFor();
    await gateway.rpc("plugins.setEnabled", { pluginId: "leaky", enabled: false });
    await leaky.getByRole("button", { name: "Enable: leaky" }).click();
    await leaky.getByText(/^(active|loads when used)$/).waitFor();
  });

  test("keep hostile texts as texts, also in the question", async () => {
    const page = await visit("#/plugins?q=strange");
    const strange = item(page, "strange");
    await strange.getByText("failed", { exact: true }).waitFor();
    await strange.getByRole("button", { expanded: false }).click();
    await strange.locator(".detail dl").first().waitFor();
    expect(await markupOf(page)).toEqual([]);
    await strange.getByRole("button", { name: /^Disable/ }).click();
    await page.getByRole("dialog").waitFor();
    expect(await markupOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
  });

  test("that match nothing say so, with the way out", async () => {
    const page = await visit("#/plugins");
    await page.getByRole("searchbox").fill("no such plugin");
    await page.getByText("No plugin matches").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await item(page, "throws-at-load").waitFor();
  });
});

describe("the schedule", () => {
  test("begins with an example that works as it stands, runs it, changes it, and deletes it with its loss named", async () => {
    const page = await visit("#/schedule");
    await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
    await tab.picture("schedule-empty-desktop");
    await page.getByRole("button", { name: "New job" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Runs on weekdays at 07:00").waitFor();
    await tab.picture("schedule-new-desktop");
    await dialog.getByRole("button", { name: "Create" }).click();
    const job = item(page, "Morning summary");
    await job.getByText("has not run", { exact: true }).waitFor();

    await job.getByRole("button", { name: "Run now: Morning summary" }).click();
    await job.getByText("ok", { exact: true }).first().waitFor();
    await job.getByText(/last just now/).waitFor();
    await job.getByRole("button", { expanded: false }).click();
    await job.locator(".runs").getByText("Nothing is open.").waitFor();
    await tab.picture("schedule-desktop");
    await job.getByRole("button", { name: /^Open the session of/ }).click();
    await page.locator(".answer", { hasText: "Nothing is open." }).waitFor();
    await page.goBack();
    await job.getByRole("button", { name: "Edit Morning summary" }).click();
    await dialog.getByRole("button", { name: "At intervals" }).click();
    await dialog.getByRole("spinbutton", { name: "Every" }).fill("0");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("A number from one second to 366 days.").waitFor();
    await dialog.getByRole("spinbutton", { name: "Every" }).fill("2");
    await dialog.getByRole("combobox", { name: "Unit" }).selectOption("hours");
    await dialog.getByRole("button", { name: "Save" }).click();
    await job.getByText("every 2 h", { exact: true }).waitFor();
    await job.getByRole("button", { name: "Disable Morning summary" }).click();
    await job.getByText("off", { exact: true }).waitFor();
    await job.getByRole("button", { name: "Delete Morning summary" }).click();
    await dialog.getByRole("heading", { name: "Delete “Morning summary”, 1 stored run?" }).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
  });

  test("follows what others plan; what the gateway refuses stands in the form, and nothing typed is lost", async () => {
    const page = await visit("#/schedule");
    await page.getByRole("heading", { name: "Heartbeats" }).waitFor();
    const payload = { kind: "systemEvent", text: "Look at the mail." };
    await gateway.rpc("cron.add", {
      name: "By somebody",
      schedule: { kind: "every", everyMs: 3_600_000 },
      sessionTarget: "main",
      wakeMode: "now",
      payload,
    });
    await item(page, "By somebody").getByText("every 1 h", { exact: true }).waitFor();
    await page.getByRole("button", { name: "New job" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Typed name");
    await dialog.getByLabel("Crontab").fill("61 7 * * *");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("alert").getByText(/cron:/).waitFor();
    await page.keyboard.press("Escape");
    await page.reload();
    await page.getByRole("button", { name: "New job" }).click();
    await dialog.getByText("Continued from before.").waitFor();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Typed name");
    await dialog.getByRole("button", { name: "Start over" }).click();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Morning summary");
    await page.keyboard.press("Escape");
  });

  test("shows heartbeats, switches all of them, and wakes an agent", async () => {
    const page = await visit("#/schedule");
    const beats = page.getByRole("region", { name: "Heartbeats" });
    const main = beats.getByRole("listitem").filter({ hasText: "main" });
    await main.getByText("on", { exact: true }).waitFor();
    await beats.getByRole("button", { name: "Switch all off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
    await main.getByText("off", { exact: true }).waitFor();
    await beats.getByRole("button", { name: "Switch all on" }).click();
    await main.getByText("on", { exact: true }).waitFor();
    await main.getByRole("button", { name: "Wake main" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Wake" }).click();
    await dialog.getByRole("alert").getByText("Write what it should look at.").waitFor();
    await dialog.getByLabel("Line").fill("Look at the mail.");
    await dialog.getByRole("button", { name: "Wake" }).click();
    await page.getByRole("status").getByText("main was woken.").waitFor();
  });

  /** Rows as they stand in the database: so many could not be added in a minute. */
  const stored = async (names: string[], op: "kv.put" | "kv.delete") => {
    const at = Date.now();
    const job = (name: string, i: number) => ({
      ...{
        id: `stored-${i}`,
        name,
        enabled: true,
        sessionTarget: "main",
        wakeMode: "now",
        createdAtMs: at,
        updatedAtMs: at,
        configRevision: 1,
      },
      ...{ schedule: { kind: "every", everyMs: 86_400_000, anchorMs: at }, payload: { kind: "systemEvent", text: `${name} ${hostile}` } },
      ...{ state: { consecutiveErrors: 0, nextRunAtMs: at + 86_400_000 }, log: { first: 0, next: 0, bytes: 0 } },
    });
    const rows = names.map((name, i) => ({ scope: CRON_SCOPE, key: cronJobKey(`stored-${i}`), value: job(name, i) }));
    await gateway
      .service("store@2")
      .commit(rows.map(({ value, ...place }) => (op === "kv.put" ? { op, ...place, value } : { op, ...place })));
    await gateway.rpc("plugins.reload", { plugins: [{ pluginId: "cron" }] });
  };

  test("shows many jobs a page at a time, finds one, and keeps hostile texts as texts", async () => {
    const names = [...hostileTexts, ...Array.from({ length: 54 }, (_, i) => `Job ${i}`)];
    await stored(names, "kv.put");
    const page = await visit("#/schedule");
    await page.getByText("50 of 60").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("60 of 60").waitFor();
    await page.getByRole("searchbox").fill("Job 53");
    await page.getByText("1 of 1").waitFor();
    await page.getByRole("searchbox").fill("");
    const strange = item(page, "onerror").first();
    await strange.getByRole("button", { expanded: false }).click();
    await strange.getByText("It has not run yet.").waitFor();
    expect(await markupOf(page)).toEqual([]);
    await strange.getByRole("button", { name: /^Edit/ }).click();
    await page.getByRole("dialog").waitFor();
    expect(await page.evaluate(() => document.querySelectorAll("dialog :is(img, script)").length)).toBe(0);
    await page.keyboard.press("Escape");
    await stored(names, "kv.delete");
  });
});

describe("a sign-in that may do less", () => {
  test("who may only read sees both, and why buttons do nothing", async () => {
    tab = await visitChanged(browser, gateway, "#/plugins?q=leaky", without("admin|write"));
    const button = item(tab.page, "leaky").getByRole("button", { name: /^Disable/ });
    await button.waitFor();
    const reason = "This sign-in is not an administrator's";
    expect([await button.getAttribute("aria-disabled"), await button.getAttribute("title")]).toEqual(["true", reason]);
    await button.click({ force: true });
    expect(await tab.page.getByRole("dialog").count()).toBe(0);
    await tab.page.evaluate("location.hash = '#/schedule'");
    expect(await tab.page.getByRole("button", { name: "New job" }).first().getAttribute("title")).toBe(reason);
  });

  test("who may see neither reads one line of each; another failure names itself and can be tried again", async () => {
    let error: { code: string; message: string } | undefined = { code: "FORBIDDEN", message: "missing scope: operator.read" };
    const change = [failing("mutationAllowed", () => error), failing("snapshotRevision", () => error)];
    tab = await visitChanged(browser, gateway, "#/plugins", (text) => change.reduce((changed, one) => one(changed), text));
    await tab.page.getByText("This sign-in is not allowed to see plugins.").waitFor();
    await tab.page.evaluate("location.hash = '#/schedule'");
    await tab.page.getByText("This sign-in is not allowed to see jobs.").waitFor();
    error = { code: "INVALID_REQUEST", message: "the rows are away" };
    await tab.page.reload();
    await tab.page.getByRole("alert").getByText("the rows are away").waitFor();
    error = undefined;
    await tab.page.getByRole("button", { name: "Retry" }).click();
    await tab.page.getByRole("heading", { name: "No jobs yet" }).waitFor();
  });

  test("without the plugin one line says so, and how to start it", async () => {
    tab = await visitChanged(
      browser,
      gateway,
      "#/schedule",
      failing("snapshotRevision", () => ({ code: "INVALID_REQUEST", message: "unknown method: cron.list" })),
    );
    await tab.page.getByText("The cron plugin is not running on this gateway.").waitFor();
    expect(await tab.page.locator(".notice .command code").textContent()).toBe("svc plugins enable cron");
  });
});

test("by keyboard: to both with two letters, through a form, into a row and a question, and back", async () => {
  const page = await visit("#/overview");
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  const opener = item(page, "leaky").getByRole("button").first();
  await opener.focus();
  await page.keyboard.press("Enter");
  await item(page, "leaky").locator(".detail dl").first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Disable");
  await page.locator("main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.getByRole("button", { name: "New job" }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
  await page.keyboard.type("By keys ");
  await page.keyboard.press("Enter");
  const job = item(page, "By keys");
  await job.waitFor();
  const { jobs } = await gateway.rpc<{ jobs: Array<{ id: string; name: string }> }>("cron.list", { query: "By keys" });
  await gateway.rpc("cron.remove", { id: jobs[0]?.id });
  await eventually(async () => (await job.count()) === 0);
});

test("on a phone they stand behind More, in one column", async () => {
  await planJob();
  const page = await visit("#/overview", phone);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Plugins" }).click();
  await item(page, "leaky").waitFor();
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture("plugins-phone");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Schedule" }).click();
  await item(page, "A job").waitFor();
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture("schedule-phone");
  await item(page, "A job").getByRole("button", { name: /^Edit/ }).click();
  await page.getByRole("dialog").waitFor();
  await tab.picture("schedule-form-phone");
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing in either, light and dark: %s", async (name, options) => {
  await planJob();
  const page = await visit("#/plugins", options);
  await item(page, "leaky").getByRole("button").first().click();
  await item(page, "leaky").locator(".detail dl").first().waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`plugins-${name.replace(/ /g, "-")}`);
  await page.evaluate("location.hash = '#/schedule'");
  await item(page, "A job").getByRole("button").first().click();
  await page.getByText("It has not run yet.").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`schedule-${name.replace(/ /g, "-")}`);
  await item(page, "A job").getByRole("button", { name: /^Edit/ }).click();
  await page.getByRole("dialog").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
});
