import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { readQr } from "../fixtures/qr-reader.ts";
import { createTalkPlatform, echoModel } from "../fixtures/talk-platform.ts";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, openTab, phone, type Tab } from "./_browser.ts";
import { hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

const hostile = hostileTexts.join(" ");
const TOKEN = "hook-token-of-this-test-0123456789";
const probe = { "hook-probe": { enabled: true, grants: ["hooks.conversation", "hooks.prompt", "hooks.gate"] } };
const base = { plugins: { entries: probe } } satisfies SvcConfigInput;
const talking = { ...base, channels: { talk: { token: "good", accounts: { away: { token: "wrong" } } } } };
const platform = createTalkPlatform({ signIn: true });
let folder: string;
let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-ui-connect-"));
  const stateDir = join(folder, "state");
  await mkdir(join(stateDir, "gateway"), { recursive: true });
  const blame = { at: Date.parse("2026-11-01T10:00:00Z"), ms: 60_000, what: "method hook-probe.seen", stack: ["at index.ts:3"] };
  await writeFile(join(stateDir, "gateway/quarantine.json"), JSON.stringify({ version: 1, plugins: { "hook-probe": blame } }));
  gateway = await createTestGateway({
    plugins: [
      ...["store", "agents", "messaging", "webhooks", "devices", "approvals", "control-ui"],
      ...[join(import.meta.dirname, "../fixtures/plugins/hook-probe"), platform.plugin],
    ],
    models: [echoModel()],
    config: talking,
    stateDir,
  });
  browser = await launchChromium();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  platform.sent.length = 0;
  platform.onLogin = undefined;
  await gateway.reload(talking);
  await eventually(() => platform.running.has("default"));
});
afterEach(async () => {
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

async function visit(address: string, options: Parameters<typeof visitView>[3] = desktop): Promise<Page> {
  tab = await visitView(browser, gateway, address, options);
  return tab.page;
}

const region = (page: Page, name: string) => page.getByRole("region", { name });
const account = (page: Page, name: string) => region(page, "Accounts").getByRole("listitem").filter({ hasText: name });
const panel = (page: Page) => page.getByRole("dialog", { name: "Needs you" });
const need = (page: Page, text: string | RegExp) => panel(page).getByRole("listitem").filter({ hasText: text });
const knock = (id: string, name: string) => platform.say("hello", { sender: { id, name }, peer: { id } });
const codeOf = async (page: Page, name: string) => readQr((await page.getByRole("img", { name }).locator("path").getAttribute("d")) ?? "");

describe("needs you", () => {
  test("counts what waits in header and title, and each is answered in place", async () => {
    const page = await visit("#/overview");
    await page.getByRole("button", { name: "Needs you: 2" }).waitFor();
    await knock("@eve", "Eve");
    const asking = gateway.rpc("exec.approval.request", { command: "rm -rf /tmp/x", agentId: "main", cwd: "/srv" });
    await page.getByRole("button", { name: "Needs you: 4" }).waitFor();
    await page.getByRole("heading", { level: 1, name: /1 person waits to be let in\. 1 channel account needs you\./ }).waitFor();
    expect(await page.title()).toBe("(4) Overview · svc");
    await page.getByRole("button", { name: "Needs you: 4" }).click();
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
    await tab.picture("needs-desktop");

    await need(page, "Eve (@eve) asks")
      .getByRole("button", { name: /^Approve/ })
      .click();
    await need(page, "Eve (@eve) asks").getByText("Eve (@eve) may write now.").waitFor();
    await eventually(() => platform.sent.some(({ to, text }) => to === "@eve" && text.startsWith("You are paired")));
    await need(page, "asks to run a command").getByRole("button", { name: /^Deny/ }).click();
    expect(await asking).toMatchObject({ decision: "deny" });
    await need(page, "asks to run a command").getByText("Denied.").waitFor();
    await need(page, "Talk · away is blocked").getByText("the token is not of the right form").waitFor();
    await need(page, "is quarantined")
      .getByText(/it blocked the event loop for 60 s/)
      .waitFor();
    await need(page, "is quarantined")
      .getByRole("button", { name: /^Let it load again/ })
      .click();
    await need(page, "is quarantined")
      .getByText(/^Hook probe: (active|loads when used)\.$/)
      .waitFor();
    await panel(page).getByText("1 thing to look at.").waitFor();
    await tab.picture("needs-answered-desktop");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Needs you: 1" }).waitFor();
  });

  test("is reached, answered and left by the keyboard", async () => {
    await knock("@kim", "Kim");
    const page = await visit("#/overview");
    await page.getByRole("button", { name: /^Needs you/ }).waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("y");
    await need(page, "Kim").waitFor();
    await need(page, "Kim")
      .getByRole("button", { name: /^Reject/ })
      .focus();
    await page.keyboard.press("Enter");
    await need(page, "Kim").getByText("Kim (@kim) was rejected.").waitFor();
    expect(await page.evaluate("document.activeElement.innerText")).toContain("was rejected");
    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
  });

  test("keeps hostile texts as texts, and on a phone one column", async () => {
    const names = hostileTexts.slice(0, 3);
    for (const [i, name] of names.entries()) await knock(`@h${i}`, name);
    const page = await visit("#/overview", phone);
    await page.getByRole("button", { name: /^Needs you/ }).click();
    for (const i of names.keys()) await need(page, `@h${i}`).waitFor();
    await tab.picture("needs-phone");
    expect(await markupOf(page)).toEqual([]);
    expect(await isOneColumn(page)).toBe(true);
    for (const i of names.keys())
      await need(page, `(@h${i})`)
        .getByRole("button", { name: /^Reject/ })
        .click();
    await need(page, "(@h2)")
      .getByText(/was rejected/)
      .waitFor();
  });
});

describe("a phone", () => {
  test("is signed in by the code that a signed-in page shows, and by no second one", async () => {
    const page = await visit("#/devices");
    await region(page, "Sign a phone in").getByRole("button", { name: "Show QR code" }).click();
    const link = await codeOf(page, "QR code that signs one device in");
    expect(link).toMatch(new RegExp(`^${gateway.url}/#invite=[\\w-]{43}$`));
    await page.getByText(/^[45]:\d\d$/).waitFor();
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
    await tab.picture("devices-code-desktop");
    const invitation = link.slice(link.indexOf("=") + 1);
    const kept = await page.evaluate(() => location.href + JSON.stringify({ ...localStorage, ...sessionStorage }));
    expect(kept + (await page.content())).not.toContain(invitation);

    const other = await openTab(browser, phone);
    await other.page.goto(link);
    await other.page.getByText("Connected", { exact: true }).waitFor();
    expect(other.page.url()).toBe(`${gateway.url}/#/overview`);
    expect(await other.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(invitation);
    await region(page, "Sign a phone in")
      .getByRole("status")
      .getByText(/is signed in\.$/)
      .waitFor();
    expect(await page.getByRole("img", { name: /QR code/ }).count()).toBe(0);
    await other.page.reload();
    await other.page.getByText("Connected", { exact: true }).waitFor();
    expect(other.problems).toEqual([]);
    await other.leave();

    const late = await openTab(browser, phone);
    await late.page.goto(link);
    await late.page
      .getByRole("alert")
      .getByText(/This code has been used, or has run out/)
      .waitFor();
    await late.leave();
  });

  test("stays out once the code is hidden or its page has lost the connection, and an address that it cannot open is said so before", async () => {
    const page = await visit("#/devices", phone);
    const section = region(page, "Sign a phone in");
    const show = section.getByRole("button", { name: "Show QR code" });
    await section.getByRole("textbox").fill("http://192.168.1.5:18789");
    await show.click();
    await section
      .getByRole("alert")
      .getByText(/Over plain HTTP/)
      .waitFor();
    await section.getByRole("textbox").fill(gateway.url);
    await show.click();
    const hidden = await codeOf(page, "QR code that signs one device in");
    await section.scrollIntoViewIfNeeded();
    await tab.picture("devices-code-phone");
    expect(await isOneColumn(page)).toBe(true);
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
    await section.getByRole("button", { name: "Hide code" }).click();
    await show.waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Show QR code");

    await show.click();
    const lost = await codeOf(page, "QR code that signs one device in");
    const { paired } = await gateway.rpc<{ paired: Array<{ deviceId: string; connected: boolean }> }>("device.pair.list");
    for (const { deviceId, connected } of paired) if (connected) await gateway.rpc("device.token.revoke", { deviceId, role: "operator" });
    await page.getByRole("img", { name: /QR code/ }).waitFor({ state: "detached" });
    for (const link of [hidden, lost]) {
      const other = await openTab(browser, phone);
      await other.page.goto(link);
      await other.page
        .getByRole("alert")
        .getByText(/This code has been used/)
        .waitFor();
      await other.leave();
    }
  });

  test("may be invited by nobody who may not let people in", async () => {
    tab = await visitChanged(browser, gateway, "#/devices", without("admin|write|pairing"));
    const button = tab.page.getByRole("button", { name: "Show QR code" });
    await button.waitFor();
    expect([await button.getAttribute("aria-disabled"), await button.getAttribute("title")]).toEqual([
      "true",
      "This sign-in may not let people in",
    ]);
  });
});

describe("channels", () => {
  test("are set up by a form whose secret is sent once, and their account runs", async () => {
    await gateway.reload(base);
    await eventually(() => !platform.running.has("default"));
    const page = await visit("#/channels");
    await region(page, "Set one up").getByRole("button", { name: "talk", exact: true }).click();
    const form = page.getByRole("form", { name: "Set up talk" });
    await form.getByLabel("token").fill("good");
    expect(await form.getByLabel("token").getAttribute("type")).toBe("password");
    await form.getByText("Or by hand, in the config file").click();
    expect(await form.getByLabel("Lines of the config file").textContent()).toBe('channels: {\n  talk: {\n    token: "…",\n  },\n}');
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
    await tab.picture("channels-set-up-desktop");
    await form.getByRole("button", { name: "Set up talk" }).click();
    await account(page, "Talk · default").getByText("ready", { exact: true }).waitFor();
    expect(platform.running.has("default")).toBe(true);
    expect(await page.evaluate(() => [...document.querySelectorAll("input")].map(({ value }) => value).join(""))).not.toContain("good");
  });

  test("sign in by the steps of their platform, each shown in its place", async () => {
    let go = () => undefined as void;
    const scanned = new Promise<void>((resolve) => {
      go = resolve;
    });
    platform.onLogin = async function* () {
      yield { kind: "qr", text: "talk://join?code=1" };
      await scanned;
      yield { kind: "done", identity: hostile.slice(0, 60), note: "Nothing is left to do." };
    };
    const page = await visit("#/channels");
    await account(page, "Talk · default").getByRole("button", { name: "Sign in Talk · default" }).click();
    expect(await codeOf(page, "QR code that signs Talk · default in")).toBe("talk://join?code=1");
    await tab.picture("channels-login-desktop");
    go();
    await account(page, "Talk · default")
      .getByRole("status")
      .getByText(/^Signed in as .*Nothing is left to do\. The account is starting\.$/)
      .waitFor();
    expect(await markupOf(page)).toEqual([]);
  });

  test("send a test message whose outcome stands where it was sent, and are restarted", async () => {
    const page = await visit("#/channels", phone);
    const row = account(page, "Talk · default");
    await row.getByRole("button", { name: /^Test message/ }).click();
    await row.getByLabel("Recipient").fill("nobody");
    await row.getByLabel("Recipient").press("Enter");
    await row
      .getByRole("alert")
      .getByText(/the channel does not know such targets/)
      .waitFor();
    await row.getByLabel("Recipient").fill("#kitchen");
    await row.getByRole("button", { name: "Send" }).click();
    await row.getByRole("status").getByText("Sent to #kitchen.").waitFor();
    expect(platform.sent).toMatchObject([{ to: "#kitchen", text: expect.stringMatching(/^This is a test message of /) }]);
    await tab.picture("channels-test-phone");
    expect(await isOneColumn(page)).toBe(true);
    const before = platform.starts.length;
    await row.getByRole("button", { name: "Restart Talk · default" }).click();
    await eventually(() => platform.starts.length > before && platform.running.has("default"));
  });
});

test("webhooks are switched on in the page and fired, and a delivery that failed is retried", async () => {
  const page = await visit("#/webhooks");
  await region(page, "Switch them on").getByRole("button", { name: "Switch webhooks on" }).click();
  await page
    .getByRole("alert")
    .getByText(/Senders need a token/)
    .waitFor();
  await page.getByRole("button", { name: "Make one" }).click();
  const made = await page.getByLabel("Token for senders").inputValue();
  expect(made).toMatch(/^[\w-]{43}$/);
  await page.getByLabel("Token for senders").fill(TOKEN);
  await tab.picture("webhooks-off-desktop");
  await page.getByRole("button", { name: "Switch webhooks on" }).click();
  await page.getByText(`Accepted at ${gateway.url}/hooks, no mappings yet.`).waitFor();
  expect(await page.content()).not.toContain(TOKEN);

  const at = Date.now();
  const action = { kind: "agent", path: "agent", agentId: "main", isFallbackAgent: false, message: "Again.", name: "Failed one" };
  const rest = { sessionKey: "agent:main:hook:f", sessionMode: "isolated", wakeMode: "next-heartbeat", deliver: false, channel: "last" };
  const delivery = { uid: "failed-1", dir: "hook-agent" as const, lane: "agent:main:hook:f", expiresAt: at + 86_400_000 };
  await gateway.service("store@2").commit([
    { op: "delivery.accept", delivery: { ...delivery, payload: { v: 1, action: { ...action, ...rest } } }, at },
    {
      op: "delivery.finish",
      uid: "failed-1",
      from: ["accepted"],
      state: "failed",
      result: { status: "error", reason: "the model is gone" },
      at,
    },
  ]);
  const answer = await fetch(`${gateway.url}/hooks/agent`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ message: "Say hello", name: "Fired" }),
  });
  expect(answer.status).toBe(200);
  const fired = page.locator(".delivery").filter({ hasText: "Fired" });
  await fired.getByText("done", { exact: true }).waitFor();
  const failed = page.locator(".delivery").filter({ hasText: "Failed one" });
  await failed.getByRole("button", { expanded: false }).click();
  await failed.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
  await failed.getByText("done", { exact: true }).waitFor();
});
