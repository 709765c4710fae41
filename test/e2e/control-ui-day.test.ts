import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { eventually } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { okText } from "../fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { readQr } from "../fixtures/qr-reader.ts";
import { connectUser, type IrcUser } from "../servers/irc-user.ts";
import { needs } from "../servers/needs.ts";
import { type Ngircd, startNgircd } from "../servers/ngircd.ts";
import { axeViolations, launchChromium, openTab, phone, type Tab } from "./_browser.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import type { Home, Running } from "./_process.ts";

const { test } = needs("chromium", "ngircd");

const SERVER_PASSWORD = "password-of-the-irc-server";
/** A plugin that stops the gateway may do so for 5 s instead of a minute. */
const impatient = { SVC_TEST: "1", SVC_WATCHDOG_MS: "2000,3000,4000,5000" };

let vendor: FakeOpenAi;
let irc: Ngircd;
let ada: IrcUser;
let home: Home;
let gateway: Running;
let browser: Browser;
let tab: Tab;
let page: Page;

beforeAll(async () => {
  [vendor, irc, browser, home] = await Promise.all([
    startFakeOpenAi({ models: ["assistant"] }),
    startNgircd({ password: SERVER_PASSWORD }),
    launchChromium(),
    freshHome(),
  ]);
  await configured(home, {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, memorySearch: { provider: "none" } } },
    plugins: { entries: { "tools-exec": { config: { mode: "ask" } } } },
  });
  const memory = join(home.stateDir, "workspace/memory");
  await mkdir(memory, { recursive: true });
  await writeFile(join(memory, "home.md"), "# Home\n\nThe router stands in the hall.\n");
  gateway = await gatewayIn(home, [], impatient);
  ada = await connectUser({ port: irc.port, nick: "ada", password: SERVER_PASSWORD });
  tab = await openTab(browser);
  ({ page } = tab);
});
afterAll(async () => {
  await browser?.close();
  await ada?.close();
  await stopAll();
  await irc?.stop();
  await vendor?.close();
});

const go = (address: string) =>
  page.evaluate((hash) => {
    location.hash = hash;
  }, address);
const region = (name: string) => page.getByRole("region", { name });
const item = (name: string): Locator => page.locator(".foldable").filter({ hasText: name });
const dialog = () => page.getByRole("dialog");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const said = (words: string | RegExp) => page.getByRole("status").getByText(words).waitFor();
const connected = () => page.getByText("Connected", { exact: true }).waitFor({ timeout: 90_000 });
/** Everything that the page shows or keeps. */
const traces = () =>
  page.evaluate(() => {
    const fields = [...document.querySelectorAll<HTMLInputElement>("input, textarea")].map(({ value }) => value);
    return JSON.stringify([document.documentElement.outerHTML, fields, location.href, { ...localStorage }, { ...sessionStorage }]);
  });

async function configFile() {
  const text = await readFile(join(home.stateDir, "svc.json"), "utf8");
  return JSON.parse(text) as { gateway: Record<string, unknown>; plugins: { entries: Record<string, unknown> } };
}

async function ask(text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await button("Send").click();
}

test("the day of a person who runs a gateway, in the page alone", async () => {
  await page.goto(`${gateway.url}/#token=${token}`);
  await connected();
  await firstRun();
  await toolsAndApproval();
  await channelPaired();
  const hook = await webhookFired();
  await noteEdited();
  await jobScheduled();
  await pluginInstalled();
  await pluginQuarantined();
  await configMended();
  await logsFollowed(hook);
  await phoneSignedIn();
  // The gateway was away once, and the page said so in its console.
  expect(tab.problems.filter((problem) => !/WebSocket connection|ERR_CONNECTION_REFUSED/.test(problem))).toEqual([]);
});

async function firstRun(): Promise<void> {
  await page.getByRole("textbox", { name: "Question" }).fill("Are you there?");
  await button("Add a model").click();
  const form = page.locator(".first-run");
  await form.getByRole("button", { name: "An address of your own" }).click();
  await form.getByLabel("Name here").fill("lab");
  await form.getByLabel("Address").fill(vendor.url);
  await form.getByLabel("Key").fill(vendor.apiKey);
  await form.getByRole("textbox", { name: "Model" }).fill("assistant");
  await form.getByRole("button", { name: "Add and test" }).click();
  await region("lab/assistant answers")
    .getByText(/^Answered in /)
    .waitFor();
  await button("Ask").click();
  await page.locator(".answer", { hasText: okText }).waitFor();
  await page.getByRole("button", { name: /^main, lab\/assistant:/ }).waitFor();
  expect(await traces()).not.toContain(vendor.apiKey);
  await tab.picture("day-1-first-answer");
}

async function toolsAndApproval(): Promise<void> {
  await ask("Where is the router?");
  await page.locator(".tool", { hasText: "memory_search" }).getByText("1 hit").waitFor();
  await page.locator(".answer .md", { hasText: /^It says: .*The router stands in the hall\./ }).waitFor();
  await ask("What is in the workspace?");
  const asked = page.locator(".answer .approval").filter({ hasText: "Agent main asks to run a command" });
  await asked.getByText("ls memory").waitFor();
  await button("Needs you: 1").waitFor();
  await tab.picture("day-2-approval");
  await asked.getByRole("button", { name: "Allow once" }).click();
  await page.locator(".answer .md", { hasText: "home.md" }).last().waitFor();
  await button("Needs you: 1").waitFor({ state: "detached" });
  expect(await page.locator(".transcript h2.day").allTextContents()).toEqual(["Today"]);
}

async function channelPaired(): Promise<void> {
  await go("#/channels");
  await button("irc").click();
  const form = page.getByRole("form", { name: "Set up irc" });
  await form.getByText(/^More \(/).click();
  const values = { Host: "127.0.0.1", Port: String(irc.port), Nick: "agent", Password: SERVER_PASSWORD, burstLines: "100" };
  for (const [name, value] of Object.entries(values))
    await form
      .getByLabel(new RegExp(`^${name}\\b`, "i"))
      .first()
      .fill(value);
  await form.getByLabel(/^tls/i).first().selectOption("false");
  expect(
    await form
      .getByLabel(/^password/i)
      .first()
      .getAttribute("type"),
  ).toBe("password");
  expect(await axeViolations(page)).toEqual([]);
  await tab.picture("day-3-channel");
  await form.getByRole("button", { name: "Set up irc" }).click();
  const account = region("Accounts").getByRole("listitem").filter({ hasText: "IRC · default" });
  await account.getByText("ready", { exact: true }).waitFor();
  expect(await traces()).not.toContain(SERVER_PASSWORD);

  await ada.say("agent", "Where is the router?");
  const ask = region("People").getByRole("listitem").filter({ hasText: "ada" });
  await ask.getByRole("button", { name: /^Approve/ }).click();
  await said(/ada.* may write now\./);
  await ada.say("agent", "Where is the router?");
  await ada.sees(/^:agent!.* PRIVMSG ada :.*The router stands in the hall/);
}

/** @returns address and token for senders */
async function webhookFired(): Promise<{ url: string; token: string }> {
  await go("#/webhooks");
  await button("Switch webhooks on").click();
  await page
    .getByRole("alert")
    .getByText(/Senders need a token/)
    .waitFor();
  await button("Make one").click();
  const made = await page.getByLabel("Token for senders").inputValue();
  expect(made).toMatch(/^[\w-]{43}$/);
  await button("Switch webhooks on").click();
  const url = `${gateway.url}/hooks`;
  await page.getByText(`Accepted at ${url}, no mappings yet.`).waitFor();
  expect(await traces()).not.toContain(made);
  const hook = { url, token: made };
  await fire(hook, "Build");
  await page.locator(".delivery", { hasText: "Build" }).getByText("done", { exact: true }).waitFor();
  await tab.picture("day-4-webhook");
  return hook;
}

async function fire(hook: { url: string; token: string }, name: string): Promise<string> {
  const answer = await fetch(`${hook.url}/agent`, {
    method: "POST",
    headers: { authorization: `Bearer ${hook.token}` },
    body: JSON.stringify({ message: "The build is red", name, deliver: false, wakeMode: "next-heartbeat" }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { runId: string }).runId;
}

async function noteEdited(): Promise<void> {
  await go("#/memory");
  await page.getByRole("link", { name: /memory\/home\.md/ }).click();
  await page.getByRole("link", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: "memory/home.md" });
  await field.fill(`${await field.inputValue()}The tulips come in April.\n`);
  await field.press("Control+s");
  await said("memory/home.md was saved.");
  expect(await readFile(join(home.stateDir, "workspace/memory/home.md"), "utf8")).toContain("router stands in the hall.\nThe tulips come");
  await page.getByRole("searchbox", { name: "Search memory" }).fill("tulips");
  await page.keyboard.press("Enter");
  await page.locator(".hit", { hasText: "home.md" }).waitFor();
}

async function jobScheduled(): Promise<void> {
  await go("#/schedule");
  await button("New job").first().click();
  await dialog().getByRole("button", { name: "Create" }).click();
  const job = item("Morning summary");
  await job.getByRole("button", { name: "Run now: Morning summary" }).click();
  await job.getByText("ok", { exact: true }).first().waitFor();
}

async function pluginInstalled(): Promise<void> {
  const folder = join(home.stateDir, "../kitchen");
  await mkdir(folder);
  const manifest = {
    id: "kitchen",
    version: "1.0.0",
    name: "Kitchen",
    svc: { api: "^1.0.0" },
    contributes: { tools: ["tidy_kitchen"] },
    permissions: ["net", "exec"],
  };
  await writeFile(join(folder, "svc.plugin.json"), JSON.stringify(manifest));
  await writeFile(
    join(folder, "index.ts"),
    `import { definePlugin, z } from "svc/sdk";
    export default definePlugin({ id: "kitchen", version: "1.0.0", svc: { api: "^1.0.0" }, setup(ctx) {
      ctx.registerTool({ name: "tidy_kitchen", description: "Tidies the kitchen", input: z.object({}), run: () => { for (;;); } });
    } });`,
  );
  await go("#/plugins");
  await page.getByLabel("Name on npm, folder, or .tgz archive").fill(`${folder}-of-nobody`);
  await button("Install").click();
  await page
    .getByRole("alert")
    .getByText(/there is no such folder or file/)
    .waitFor();
  await page.getByLabel("Name on npm, folder, or .tgz archive").fill(folder);
  await button("Install").click();
  await page.getByText("is installed and switched off.").waitFor();
  await item("Kitchen").getByText("off", { exact: true }).waitFor();
  const consent = page.getByRole("group", { name: "What Kitchen may do" });
  expect(await consent.getByRole("checkbox").evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked))).toEqual([
    false,
    false,
  ]);
  await consent.getByLabel("starts programs (exec)").check();
  expect(await axeViolations(page)).toEqual([]);
  await tab.picture("day-6-install");
  await consent.getByRole("button", { name: "Switch it on" }).click();
  await item("Kitchen").getByText("active", { exact: true }).waitFor();
  const { entries } = (await configFile()).plugins;
  expect(entries.kitchen).toEqual({ enabled: true, grants: ["exec"] });
}

async function pluginQuarantined(): Promise<void> {
  await go("#/chat/agent%3Amain%3Akitchen");
  await ask("Please tidy the kitchen.");
  await page.getByText("Next try in").waitFor({ timeout: 90_000 });
  await eventually(() => expect(gateway.child.exitCode).toBe(70) ?? true);
  await page.getByRole("textbox", { name: "Message" }).fill("typed meanwhile");
  const { port } = gateway;
  // A supervisor, which is no part of svc, starts it again.
  gateway = await gatewayIn(home, ["--port", String(port)], impatient);
  await connected();
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("typed meanwhile");
  await page.getByRole("button", { name: /^Needs you/ }).click();
  const need = dialog().getByRole("listitem").filter({ hasText: "Kitchen is quarantined" });
  await need.getByText(/it blocked the event loop for \d+ s/).waitFor();
  await tab.picture("day-7-quarantine");
  await need.getByRole("link", { name: "Open Plugins" }).click();
  await item("Kitchen").getByText("quarantined", { exact: true }).waitFor();
  await item("Kitchen").getByRole("button", { name: "Disable: Kitchen" }).click();
  await dialog().getByRole("button", { name: "Disable" }).click();
  await item("Kitchen").getByText("off", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Needs you: / }).waitFor({ state: "detached" });
  await item("Kitchen").getByRole("button", { expanded: false }).click();
  await item("Kitchen").getByRole("button", { name: "Remove: Kitchen" }).click();
  await dialog().getByRole("button", { name: "Remove" }).click();
  await item("Kitchen").waitFor({ state: "detached" });
  expect((await configFile()).plugins.entries.kitchen).toBeUndefined();
}

async function configMended(): Promise<void> {
  await go("#/config/gateway.publicOrigin");
  const field = page.getByRole("textbox", { name: "Public origin" });
  const setting = page.locator(".setting").filter({ has: page.getByText("gateway.publicOrigin", { exact: true }) });
  const origin = async () => {
    const { gateway: section } = JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8")) as {
      gateway: Record<string, unknown>;
    };
    return section.publicOrigin;
  };
  const save = async () => {
    await button("Review changes").click();
    await dialog().locator(".changes").getByText("gateway.publicOrigin").waitFor();
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().waitFor({ state: "detached" });
  };
  await eventually(() => field.evaluate((element) => document.activeElement === element));
  await page.keyboard.type("http://gateway.example");
  await save();
  await setting
    .getByRole("alert")
    .getByText(/expected an https origin/)
    .waitFor();
  expect([await field.inputValue(), await field.getAttribute("aria-invalid")]).toEqual(["http://gateway.example", "true"]);
  await tab.picture("day-8-mistake");
  await field.fill("https://gateway.example");
  await save();
  await said("Saved and applied.");
  expect(await origin()).toBe("https://gateway.example");
  await setting.getByRole("button", { name: "Reset: Public origin" }).click();
  await save();
  await button("Review changes").waitFor({ state: "detached" });
  expect(await origin()).toBeUndefined();
}

async function logsFollowed(hook: { url: string; token: string }): Promise<void> {
  await go("#/logs");
  await page.getByText("Following", { exact: true }).waitFor();
  const uid = await fire(hook, "Deploy");
  await page.getByRole("searchbox").fill(uid);
  await page.locator(".log-line", { hasText: uid }).first().waitFor();
}

async function phoneSignedIn(): Promise<void> {
  await go("#/devices");
  const section = region("Sign a phone in");
  await section.getByRole("button", { name: "Show QR code" }).click();
  const path = page.getByRole("img", { name: "QR code that signs one device in" }).locator("path");
  const link = readQr((await path.getAttribute("d")) ?? "");
  expect(link).toMatch(new RegExp(`^${gateway.url}/#invite=[\\w-]{43}$`));
  expect(await traces()).not.toContain(link.slice(link.indexOf("=") + 1));
  const other = await openTab(browser, phone);
  await other.page.goto(link);
  await other.page.getByText("Connected", { exact: true }).waitFor();
  expect(other.page.url()).toBe(`${gateway.url}/#/overview`);
  await section
    .getByRole("status")
    .getByText(/is signed in\.$/)
    .waitFor();
  await other.page.reload();
  await other.page.getByRole("heading", { level: 1, name: "Everything works.", exact: false }).waitFor();
  await other.picture("day-10-phone");
  expect(await other.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(link.split("=")[1]);
  expect(other.problems).toEqual([]);
  await other.leave();
  const late = await openTab(browser, phone);
  await late.page.goto(link);
  await late.page
    .getByRole("alert")
    .getByText(/This code has been used, or has run out/)
    .waitFor();
  await late.leave();
}
