import type { Browser, Page } from "playwright-core";
import type { ModelRequest } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, launchChromium, phone, type Tab } from "./_browser.ts";
import { expectUnharmed, failing, hostileTexts, isOneColumn, visitChanged, visitView } from "./_ui.ts";

const { test } = needs("chromium");

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

/** Answers with what was asked, and how many messages it has read. */
function script({ messages }: ModelRequest) {
  const last = messages.findLast(({ role }) => role === "user");
  const [text] = last?.role === "user" ? last.content.filter((part) => part.type === "text" && !part.text.startsWith("System: Now: ")) : [];
  return { text: `You said: ${text?.type === "text" ? text.text : ""} (${messages.length})` };
}

beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "control-ui"],
    models: [fakeModel(Array(60).fill(script))],
    config: { agents: { defaults: { skipBootstrap: true } } },
  });
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

const chat = (name: string) => `#/chat/${encodeURIComponent(`agent:main:${name}`)}`;
const field = (page: Page) => page.getByRole("textbox", { name: "Message" });
const branch = (page: Page, at: number, of: number) => page.getByRole("group", { name: `Branch ${at} of ${of}` });
const questions = (page: Page) => page.locator(".bubble").allTextContents();

let runs = 0;
/** Asks without a page, one question after the other. */
async function asked(name: string, ...messages: string[]): Promise<void> {
  for (const message of messages) {
    const idempotencyKey = `run-${++runs}`;
    await gateway.rpc("chat.send", { sessionKey: `agent:main:${name}`, message, idempotencyKey });
    await gateway.rpc("agent.wait", { runId: idempotencyKey });
  }
}

/** Puts a question of the conversation into the field, by its number, by keyboard. */
async function edit(page: Page, number: number): Promise<void> {
  await page.locator(".turn").nth(number).getByRole("button", { name: "More about this answer" }).press("Enter");
  await page.getByRole("menuitem", { name: "Edit and ask again" }).press("Enter");
  await page.getByText("You edit an earlier question.").waitFor();
}

test("an edited question is asked in a branch, and both branches stay, through a reload and by keyboard", async () => {
  await asked("talk", "one", "two", "three");
  tab = await visitView(browser, gateway, chat("talk"));
  const { page } = tab;
  await edit(page, 1);
  await field(page).press("Enter");
  await branch(page, 2, 2).waitFor();
  expect(await questions(page)).toEqual(["one", "two"]);
  await page.locator(".answer").getByText("You said: two (3)").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture("chat-branches-desktop");

  await branch(page, 2, 2).getByRole("button", { name: "Previous branch" }).press("Enter");
  await branch(page, 1, 2).waitFor();
  expect(await questions(page)).toEqual(["one", "two", "three"]);
  // The focus is where it was, so that one goes on without looking for it.
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Previous branch");
  expect(await branch(page, 1, 2).getByRole("button", { name: "Previous branch" }).getAttribute("aria-disabled")).toBe("true");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await branch(page, 2, 2).waitFor();

  await page.reload();
  await branch(page, 2, 2).waitFor();
  expect(await questions(page)).toEqual(["one", "two"]);
});

test("what is typed for a branch is kept by a reload; it can be put at the end instead", async () => {
  await asked("draft", "one", "two");
  tab = await visitView(browser, gateway, chat("draft"));
  const { page } = tab;
  await edit(page, 0);
  await field(page).fill("one, but better");
  await page.reload();
  await page.getByText("You edit an earlier question.").waitFor();
  expect(await field(page).inputValue()).toBe("one, but better");
  await page.getByRole("button", { name: "Put it at the end instead" }).click();
  await field(page).press("Enter");
  await page.locator(".answer").getByText("You said: one, but better (5)").waitFor();
  expect(await questions(page)).toEqual(["one", "two", "one, but better"]);
  expect(await page.getByRole("group", { name: /^Branch/ }).count()).toBe(0);
});

test("hostile texts in both branches of a phone are text; a branch that is deleted is no branch", async () => {
  const [hostile] = [hostileTexts.join("\n")];
  await asked("hostile", hostile, "two");
  tab = await visitView(browser, gateway, chat("hostile"), phone);
  const { page } = tab;
  await edit(page, 0);
  await field(page).fill(`${hostile} again`);
  await page.getByRole("button", { name: "Send" }).click();
  await branch(page, 2, 2).waitFor();
  await page.getByText("You said:").first().waitFor();
  await expectUnharmed(page);
  expect(await isOneColumn(page)).toBe(true);
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture("chat-branches-phone");

  await branch(page, 2, 2).getByRole("button", { name: "Previous branch" }).click();
  await branch(page, 1, 2).waitFor();
  const { points } = await gateway.rpc<{ points: Array<{ branches: Array<{ key: string }> }> }>("sessions.branches", { key: "hostile" });
  await gateway.rpc("sessions.delete", { key: points[0]?.branches[1]?.key });
  await page.getByRole("group", { name: /^Branch/ }).waitFor({ state: "detached" });
  expect(await questions(page)).toHaveLength(2);
});

test("a branch that cannot be made says so, keeps the text, and is made by another try", async () => {
  await asked("refused", "one");
  let isRefused = true;
  tab = await visitChanged(
    browser,
    gateway,
    chat("refused"),
    failing("copied", () => (isRefused ? { code: "UNAVAILABLE", message: `the disk is full ${hostileTexts[0]}` } : undefined)),
  );
  const { page } = tab;
  await edit(page, 0);
  await field(page).fill("one, again");
  await field(page).press("Enter");
  await page.getByRole("alert").getByText("There is no branch yet, and nothing was sent. the disk is full").waitFor();
  expect(await field(page).inputValue()).toBe("one, again");
  await expectUnharmed(page);
  isRefused = false;
  await field(page).press("Enter");
  await branch(page, 2, 2).waitFor();
  expect(await questions(page)).toEqual(["one, again"]);
});
