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
});
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
