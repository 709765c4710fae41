import type { Browser, Page } from "playwright-core";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { createTalkPlatform, echoModel } from "../fixtures/talk-platform.ts";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab, takeTab } from "./_browser.ts";

const { describe, test } = needs("chromium");

const hostile = `<img src=x onerror="document.title='taken'"> {{x}}`;
const platform = createTalkPlatform();
const channels = {
  talk: { token: "good", accounts: { work: {}, away: { token: "wrong" }, off: { enabled: false }, bare: { token: "good" } } },
};
let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  const plugins = ["store", "agents", "messaging", "control-ui", "devices", platform.plugin];
  gateway = await createTestGateway({ plugins, models: [echoModel()], config: { channels } });
  await eventually(() => platform.running.has("default") && platform.running.has("work"));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});
beforeEach(() => {
  platform.sent.length = 0;
});
afterEach(async () => {
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

async function signIn(options: Parameters<typeof takeTab>[1] = desktop, address = "#/channels"): Promise<Page> {
  tab = await takeTab(browser, options);
  await tab.page.goto(`${gateway.url}/#token=${gateway.token}`);
  await tab.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
  await tab.page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  return tab.page;
}

const region = (page: Page, name: string) => page.getByRole("region", { name });
const account = (page: Page, name: string) => region(page, "Accounts").getByRole("listitem").filter({ hasText: name });
const knock = (id: string, name: string) => platform.say("hello", { sender: { id, name }, peer: { id } });

describe("accounts", () => {
  test("stand there with their state as a word, and what is wrong with them", async () => {
    const page = await signIn();
    await page.getByText(/3 of 5 accounts ready, 1 needs you\./).waitFor();
    await account(page, "Talk · default").getByText("ready", { exact: true }).waitFor();
    const away = account(page, "Talk · away");
    await away.getByText("blocked", { exact: true }).waitFor();
    await away.getByText("the token is not of the right form").waitFor();
    await account(page, "Talk · off").getByText("disabled", { exact: true }).waitFor();
    expect(await account(page, "Talk · off").getByRole("button").count()).toBe(0);
    expect(await page.content()).not.toContain("good");
    await tab.picture("channels-desktop");
  });

  test("are stopped after a question, say what waits for them, and are started again", async () => {
    const page = await signIn();
    const work = account(page, "Talk · work");
    await work.getByRole("button", { name: "Stop Talk · work" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(platform.running.has("work")).toBe(true);
    await work.getByRole("button", { name: "Stop Talk · work" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await work.getByText("stopped by hand").waitFor();

    const sending = gateway.rpc("send", { channel: "talk", accountId: "work", to: "@ada", message: "Later.", idempotencyKey: "later" });
    await work.getByText("1 waiting to be sent").waitFor();
    await work.getByRole("button", { name: "Start Talk · work" }).click();
    await work.getByText("ready", { exact: true }).waitFor();
    await eventually(() => platform.sent.length === 1);
    await sending;
  });

  test("send a test message, and say in place what went wrong with it", async () => {
    const page = await signIn();
    const work = account(page, "Talk · work");
    await work.getByRole("button", { name: /^Test message/ }).click();
    await work.getByLabel("Recipient").fill("nobody");
    await work.getByRole("button", { name: "Send" }).click();
    await work.getByRole("alert").getByText("the channel does not know such targets").waitFor();
    expect(platform.sent).toEqual([]);
    await work.getByLabel("Recipient").fill("#kitchen");
    await work.getByRole("button", { name: "Send" }).click();
    await work.getByRole("status").getByText("Sent to #kitchen.").waitFor();
    expect(platform.sent).toMatchObject([
      { accountId: "work", to: "#kitchen", text: expect.stringMatching(/^This is a test message of /) },
    ]);
  });
});

describe("people", () => {
  test("who wait appear by themselves, are approved or rejected, and an approval is taken back", async () => {
    const page = await signIn();
    await region(page, "Accounts").waitFor();
    await knock("@eve", "Eve");
    await knock("@mal", hostile);
    const eve = region(page, "People").getByRole("listitem").filter({ hasText: "Eve (@eve)" });
    await eve.getByText("waits", { exact: true }).waitFor();
    await tab.picture("channels-people-desktop");
    await region(page, "People")
      .getByRole("button", { name: /^Reject <img/ })
      .click();
    await eve.getByRole("button", { name: "Approve Eve (@eve)" }).click();
    await page.getByRole("status").getByText("Eve (@eve) may write now.").waitFor();
    await eventually(() => platform.sent.some(({ to, text }) => to === "@eve" && text.startsWith("You are paired")));
    expect(await knock("@eve", "Eve")).toEqual({ status: "accepted" });
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).not.toBe("taken");

    await eve.getByRole("button", { name: "Take back the approval of Eve (@eve)" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Take back" }).click();
    await eventually(async () => (await region(page, "People").getByText("Eve (@eve)").count()) === 0);
    expect(await knock("@eve", "Eve")).toMatchObject({ reason: "pairing-requested" });
  });
});

test("by keyboard: there with two letters, into a question and out of it, back where it was asked", async () => {
  const page = await signIn(desktop, "#/overview");
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  const button = account(page, "Talk · default").getByRole("button", { name: /^Test message/ });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("form", { name: /^Test message/ }).waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
  await page.keyboard.press("Escape");
  await page.getByRole("form", { name: /^Test message/ }).waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Test message");
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing, light and dark, and nothing scrolls sideways: %s", async (name, options) => {
  await knock("@zoe", "Zoe");
  const page = await signIn(options);
  await region(page, "People").getByText("Zoe (@zoe)").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  expect(await page.locator("main").evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  await tab.picture(`channels-${name.replace(/ /g, "-")}`);
  await page.emulateMedia({ colorScheme: "dark" });
  await tab.picture(`channels-dark-${name.replace(/ /g, "-")}`);
});

test("without a channel the page says how one is set up, and on a phone it stands behind More", async () => {
  const own = await createTestGateway({ plugins: ["store", "agents", "messaging", "control-ui", "devices"] });
  try {
    tab = await takeTab(browser, phone);
    const { page } = tab;
    await page.goto(`${own.url}/#token=${own.token}`);
    await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Channels" }).click();
    await page.getByText("No channel is set up").waitFor();
    await page.getByRole("heading", { name: "Set one up" }).waitFor();
    expect(await page.locator(".command code").allTextContents()).toEqual(["svc channels add irc"]);
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  } finally {
    // The page would try to come back.
    await tab.leave();
    await own.close();
  }
});

describe("the transcript of a group", () => {
  test("names whoever wrote each message, and no name does anything but stand there", async () => {
    const inKitchen = { chatType: "group" as const, peer: { id: "#kitchen", name: "Kitchen" } };
    await gateway.reload({
      channels: { talk: { ...channels.talk, groups: { "#kitchen": { requireMention: false } }, groupAllowFrom: ["*"] } },
    });
    await eventually(() => platform.running.has("default"));
    for (const [id, name, text] of [
      ["@ada", "Ada Lovelace", "Is there bread?"],
      ["@eve", `\u202eevE\n${hostile}`, "There is not."],
      ["@adel", "عادل", "I bring some."],
    ] as const) {
      await platform.say(text, { ...inKitchen, sender: { id, name } });
      await eventually(() => platform.sent.some((sent) => sent.text.includes(text)));
    }
    const page = await signIn(desktop, `#/chat/${encodeURIComponent("agent:main:talk:group:#kitchen")}`);
    const question = (text: string) => page.locator(".question").filter({ hasText: text });
    await question("Is there bread?").getByText("Ada Lovelace").waitFor();
    expect(await question("There is not.").locator("strong").textContent()).toBe(`evE ${hostile}`);
    await question("I bring some.").getByText("@adel").waitFor();
    expect(await page.title()).not.toBe("taken");
    expect(await page.content()).not.toContain("EXTERNAL_UNTRUSTED");
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
    await tab.picture("transcript-senders-desktop");
    await gateway.reload({ channels });
  });
});
