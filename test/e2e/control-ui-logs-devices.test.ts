import { appendFile, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab } from "./_browser.ts";
import { failing, hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;
let file: string;

beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["store", "agents", "operator", "devices", "control-ui"] });
  file = (await gateway.rpc<{ file: string }>("logs.tail", {})).file;
  await mkdir(dirname(file), { recursive: true });
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

const line = (msg: string, more: object = {}) =>
  `${JSON.stringify({ ts: new Date().toISOString(), level: "info", subsystem: "gateway/hooks", msg, pid: 7, ...more })}\n`;
const lines = (count: number, word = "line") => Array.from({ length: count }, (_, i) => line(`${word} ${i}`)).join("");
const logLine = (page: Page, text: string | RegExp) => page.locator(".log-line > button").filter({ hasText: text });

async function visit(address: string, options: Parameters<typeof visitView>[3] = desktop): Promise<Page> {
  tab = await visitView(browser, gateway, address, options);
  return tab.page;
}

describe("the log", () => {
  beforeEach(() =>
    writeFile(
      file,
      [
        line("starts", { level: "debug" }),
        line("accepted", { uid: "abc" }),
        line("is slow", { level: "warn", subsystem: "gateway/plugin/agents" }),
      ].join(""),
    ),
  );

  test("is followed: what is written appears by itself, and a line opens to its fields", async () => {
    const page = await visit("#/logs");
    await page.getByText("3 lines in view.").waitFor();
    await appendFile(file, line("came later", { level: "error", err: { message: "boom", stack: "Error: boom\n    at index.ts:3" } }));

    await logLine(page, "came later").click();
    await page.getByText("at index.ts:3").waitFor();
    await page.getByText("Paused", { exact: true }).waitFor();
    await tab.picture("logs-desktop");
    expect(await logLine(page, "came later").getAttribute("aria-expanded")).toBe("true");
    expect(await page.title()).toMatch(/^(\(\d+\) )?Logs · svc$/);
  });

  test("is filtered by level, part and text, and the address says how", async () => {
    const page = await visit("#/logs?level=warn");
    await logLine(page, "is slow").waitFor();
    await expect.poll(() => page.locator(".log-line").count()).toBe(1);
    await page.getByRole("combobox", { name: "Level" }).selectOption("");
    await page.getByRole("combobox", { name: "Part of the gateway" }).selectOption("hooks");
    await expect.poll(() => page.locator(".log-line").count()).toBe(2);
    await page.getByRole("searchbox").fill("ABC");
    await expect.poll(() => page.locator(".log-line").count()).toBe(1);
    expect(page.url()).toMatch(/#\/logs\?subsystem=hooks&q=ABC$/);
    await page.getByRole("searchbox").fill("nobody wrote this");
    await page.getByText("No lines match").waitFor();
    await page.getByRole("button", { name: "Show all lines" }).click();
    await page.getByText("3 lines in view.").waitFor();
  });

  test("stands still from an upward scroll until it is resumed, and counts what comes meanwhile", async () => {
    await writeFile(file, lines(300));
    const page = await visit("#/logs");
    await logLine(page, "line 299").waitFor();
    await page.locator(".long-list").hover();
    await page.mouse.wheel(0, -600);
    await page.getByText("Paused", { exact: true }).waitFor();
    const top = await page.locator(".long-list").evaluate((element) => element.scrollTop);
    await appendFile(file, lines(4, "new"));

    await page.getByText("4 new").waitFor();
    expect(await logLine(page, "new 3").count()).toBe(0);
    expect(await page.locator(".long-list").evaluate((element) => element.scrollTop)).toBe(top);
    await tab.picture("logs-paused-desktop");
    await page.getByRole("button", { name: "Resume" }).click();
    await logLine(page, "new 3").waitFor();
    await page.getByText("Following", { exact: true }).waitFor();
  });

  test("is bounded: 5,000 lines, of which only those near the view are drawn", async () => {
    await writeFile(file, lines(10));
    const page = await visit("#/logs");
    await logLine(page, "line 9").waitFor();
    await appendFile(file, lines(9_000, "more"));
    await logLine(page, "more 8999").waitFor();
    await page.getByText("5,000 lines in view.").waitFor();
    await expect.poll(() => page.locator(".log-line").count()).toBeLessThan(300);
    await page.locator(".long-list").focus();
    await page.keyboard.press("Home");
    await page.getByText(/^Lines older than .* are in the file only: /).waitFor();
    await logLine(page, "more 4000").waitFor();
  });

  test("says what it skipped where the log grew faster than it is read, and that the file was put aside", async () => {
    const page = await visit("#/logs");
    await page.getByText("3 lines in view.").waitFor();
    await appendFile(file, lines(30_000, "fast"));
    await logLine(page, "fast 29999").waitFor();
    await rename(file, `${file}.1`);
    await writeFile(file, line("of the next file"));
    await logLine(page, "of the next file").waitFor();
    await page.getByRole("searchbox").fill("of the next file");
    await page.getByText(/^Lines were skipped here, about \d\.\d MB/).waitFor();
    await page.getByText("The log file was put aside. These are the newest lines of the next one.").waitFor();
  });

  test("keeps hostile texts as texts, in rows and in fields", async () => {
    await writeFile(
      file,
      hostileTexts.map((text) => line(text, { subsystem: `gateway/${text}`, [text]: text, err: { stack: text } }) + `${text}\n`).join(""),
    );
    const page = await visit("#/logs");
    await page.getByText(`${2 * hostileTexts.length} lines in view.`).waitFor();
    for (const row of await page.locator(".log-line > button").all()) await row.click();
    await expect.poll(() => page.locator(".log-fields").count()).toBe(2 * hostileTexts.length);
    expect(await markupOf(page)).toEqual([]);
  });

  test("says that it is empty", async () => {
    await writeFile(file, "");
    const page = await visit("#/logs");
    await page.getByRole("heading", { name: "The log is empty" }).waitFor();
  });
});

describe("devices", () => {
  const deviceOf = (n: number) => `${n}`.repeat(64).slice(0, 64);
  const asks = (n: number, displayName: string) =>
    gateway.service("devices@1").ask(
      {
        ...{
          deviceId: deviceOf(n),
          publicKey: "k".repeat(43),
          displayName,
          platform: "iPhone",
          clientId: "svc-control-ui",
          clientMode: "ui",
        },
        ...{ role: "operator", scopes: ["operator.read", "operator.write"] },
      },
      { remoteIp: "192.0.2.7", isRepair: false },
    );
  const row = (page: Page, part: string, name: string) =>
    page.getByRole("region", { name: part }).getByRole("listitem").filter({ hasText: name });

  test("that ask appear by themselves, are approved and rejected, renamed, signed out and removed", async () => {
    const page = await visit("#/devices");
    await row(page, "Connected now", "this browser").waitFor();
    asks(1, "Safari on iPhone");
    asks(2, "Somebody else");
    const asking = row(page, "Waiting for your approval", "Safari on iPhone");
    await asking.getByText("from 192.0.2.7").waitFor();
    expect(await asking.innerText()).toMatch(/Asks to do: read, write/);
    await page.getByText(/2 wait for your approval\./).waitFor();
    await page.getByRole("button", { name: "Needs you: 3" }).waitFor();
    await tab.picture("devices-desktop");
    await page.getByRole("button", { name: "Reject Somebody else" }).click();
    await page.getByRole("button", { name: "Approve Safari on iPhone" }).click();
    await page.getByRole("status").getByText("Safari on iPhone may connect now.").waitFor();

    const paired = row(page, "Paired", "Safari on iPhone");
    await page.getByRole("button", { name: "Rename Safari on iPhone" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Ada's phone");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await row(page, "Paired", "Ada's phone").waitFor();
    expect(await paired.innerText()).toMatch(/signed out[\s\S]*iPhone[\s\S]*approved just now/);
    await gateway.service("devices@1").issue(deviceOf(1), "operator");
    await page.reload();
    await page.getByRole("button", { name: "Sign out Ada's phone" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await row(page, "Paired", "Ada's phone").getByText("signed out", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove Ada's phone" }).click();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Cancel");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await eventually(async () => (await row(page, "Paired", "Ada's phone").count()) === 0);
    const { pending, paired: left } = await gateway.rpc<{ pending: unknown[]; paired: Array<{ deviceId: string }> }>(
      "device.pair.list",
      {},
    );
    expect([pending, left.filter(({ deviceId }) => deviceId === deviceOf(1))]).toEqual([[], []]);
  });

  test("of this very browser are not removed by one press", async () => {
    const page = await visit("#/devices");
    const own = row(page, "Paired", "this browser");
    await own.getByText("connected", { exact: true }).waitFor();
    await own.getByRole("button", { name: /^Remove/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("something else");
    await dialog.getByRole("button", { name: "Remove" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/Nothing was removed/)
      .waitFor();
    await page.keyboard.press("Escape");
    await own.waitFor();
  });

  test("say how another one comes in", async () => {
    const page = await visit("#/devices");
    await page.getByRole("heading", { name: "Pair a phone or another computer" }).waitFor();
    expect(await page.locator(".steps .command code").allTextContents()).toEqual([
      "svc config set gateway.tailscale.mode serve",
      "svc dashboard --secret",
    ]);
  });

  test("keep hostile names as texts", async () => {
    for (const [i, text] of hostileTexts.entries()) asks(i + 3, text);
    const page = await visit("#/devices");
    await row(page, "Waiting for your approval", "onerror").waitFor();
    await page.getByRole("button", { name: /^Approve <img/ }).click();
    await row(page, "Paired", "onerror")
      .getByRole("button", { name: /^Remove/ })
      .click();
    await page.getByRole("dialog").waitFor();
    expect(await markupOf(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await row(page, "Paired", "onerror").waitFor({ state: "detached" });
  });
});

describe("a sign-in that may do less", () => {
  test("who may not pair sees who is connected, and one line in place of the devices; another failure can be tried again", async () => {
    let error: { code: string; message: string } | undefined = { code: "FORBIDDEN", message: "missing scope: operator.pairing" };
    tab = await visitChanged(
      browser,
      gateway,
      "#/devices",
      failing("paired", () => error),
    );
    await tab.page.getByText("This sign-in is not allowed to see devices.").waitFor();
    await tab.page.getByRole("heading", { name: "Connected now" }).waitFor();
    error = { code: "UNAVAILABLE", message: "the store is away" };
    await tab.page.reload();
    await tab.page.getByRole("alert").getByText("the store is away").waitFor();
    error = undefined;
    await tab.page.getByRole("button", { name: "Retry" }).click();
    await tab.page.getByRole("heading", { name: "Paired" }).waitFor();
  });

  test("who may only read follows the log, and is told why buttons of devices do nothing", async () => {
    await writeFile(file, line("for readers"));
    tab = await visitChanged(browser, gateway, "#/logs", without("admin|write|pairing"));
    await logLine(tab.page, "for readers").waitFor();
    await tab.page.evaluate("location.hash = '#/devices'");
    const button = tab.page.getByRole("button", { name: /^Rename/ }).first();
    await button.waitFor();
    expect([await button.getAttribute("aria-disabled"), await button.getAttribute("title")]).toEqual([
      "true",
      "This sign-in may not let people in",
    ]);
  });
});

test("by keyboard: to both with two letters, into a line, a search and a question, and back where it was asked", async () => {
  await writeFile(file, lines(3));
  const page = await visit("#/overview");
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await logLine(page, "line 2").focus();
  await page.keyboard.press("Enter");
  await page.locator(".log-fields").waitFor();
  await page.locator("main").focus();
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Search the log");
  await page.locator("main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  const rename = page.getByRole("button", { name: /^Rename/ }).first();
  await rename.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Rename");
});

test("on a phone they stand behind More, in one column", async () => {
  await writeFile(
    file,
    [...Array(40).keys()]
      .map((i) => line(`a rather long line ${i} that does not fit into the width of a phone`, { level: i % 7 ? "info" : "warn" }))
      .join(""),
  );
  const page = await visit("#/overview", phone);
  await page.getByRole("button", { name: "More" }).click();
  await tab.picture("more-phone");
  await page.getByRole("menuitem", { name: "Logs" }).click();
  await logLine(page, "line 39").waitFor();
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture("logs-phone");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Devices" }).click();
  await page.getByRole("heading", { name: "Paired" }).waitFor();
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture("devices-phone");
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing in either, light and dark: %s", async (name, options) => {
  await writeFile(
    file,
    [line("fine"), line("is slow", { level: "warn" }), line("broke", { level: "error", err: { stack: "at a.ts:1" } })].join(""),
  );
  gateway.service("devices@1").ask(
    {
      ...{
        deviceId: "f".repeat(64),
        publicKey: "k".repeat(43),
        displayName: `For axe ${name}`,
        platform: "Linux",
        clientId: "svc-control-ui",
      },
      ...{ clientMode: "ui", role: "operator", scopes: ["operator.admin"] },
    },
    { remoteIp: "192.0.2.9", isRepair: false },
  );
  const page = await visit("#/logs", options);
  await logLine(page, "broke").click();
  await page.locator(".log-fields").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`logs-open-${name.replace(/ /g, "-")}`);
  await page.evaluate("location.hash = '#/logs?q=nothing'");
  await page.getByText("No lines match").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await page.evaluate("location.hash = '#/devices'");
  await page.getByRole("heading", { name: "Waiting for your approval" }).waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`devices-${name.replace(/ /g, "-")}`);
});
