import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab } from "./_browser.ts";
import { failing, hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

const roses = "# Garden\n\nThe roses are cut in March.\n";
let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({
    workspace: {
      "MEMORY.md": "# Home\n\nThe router stands in the hall.\n",
      "memory/garden.md": roses,
      "memory/windows.md": "one\r\ntwo\r\n",
    },
    config: { agents: { defaults: { memorySearch: { provider: "none" } } } },
  });
  await gateway.service("memory@1").sync("main");
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

const onDisk = (path: string) => readFile(join(gateway.workspace, path), "utf8");
const text = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();
const said = (page: Page, words: string | RegExp) => page.getByRole("status").getByText(words).waitFor();

describe("a note", () => {
  test("is edited where it is read, kept over a reload, saved, and found by a search", async () => {
    const page = await visit("#/memory");
    await page.getByRole("link", { name: /memory\/garden\.md/ }).click();
    await page.getByRole("link", { name: "Edit" }).click();
    const field = text(page, "memory/garden.md");
    expect(await field.inputValue()).toBe(roses);
    await field.fill(`${roses}The tulips come in April.\n`);
    await page.getByRole("link", { name: "Close the editor" }).click();
    await page.locator(".row-line", { hasText: "garden.md" }).getByText("not saved").waitFor();
    await page.goBack();
    await page.reload();
    expect(await field.inputValue()).toContain("tulips");
    await tab.picture("note-desktop");
    await field.press("Control+s");
    await said(page, "memory/garden.md was saved.");
    await page.locator(".lines").getByText("The tulips come in April.").waitFor();
    expect(await onDisk("memory/garden.md")).toContain("tulips");
    expect(await page.getByText("not saved").count()).toBe(0);
    await page.getByRole("searchbox", { name: "Search memory" }).fill("tulips");
    await page.keyboard.press("Enter");
    await page.locator(".hit", { hasText: "garden.md" }).waitFor();
  });

  test("is written new under the name that was typed, and an existing one is not written over", async () => {
    const page = await visit("#/memory");
    await page.getByRole("button", { name: "New note" }).click();
    await text(page, "Name").fill("../secrets");
    await text(page, "Text of the note").fill("Ana collects barometers.");
    await save(page);
    await page.getByRole("alert").getByText("A name does not begin with a dot.").waitFor();
    await page.reload();
    expect(await text(page, "Text of the note").inputValue()).toBe("Ana collects barometers.");
    await text(page, "Name").fill("garden");
    await save(page);
    await page.getByText(/there is a note of this name already/).waitFor();
    await page.getByRole("region", { name: "Their text" }).getByText("The roses are cut in March.").waitFor();
    await tab.picture("note-new-desktop");
    await text(page, "Name").fill("people/ana");
    await save(page);
    await said(page, "memory/people/ana.md was saved.");
    expect(await onDisk("memory/people/ana.md")).toBe("Ana collects barometers.");
    expect(await onDisk("memory/garden.md")).toContain("roses");
    await page.locator(".row-line", { hasText: "people/ana.md" }).getByText("1 passage").waitFor();
    await page.getByRole("searchbox", { name: "Search memory" }).fill("barometers");
    await page.keyboard.press("Enter");
    await page.locator(".hit", { hasText: "people/ana.md" }).waitFor();
  });

  test("that somebody else has changed is shown beside what was typed, and either can be kept", async () => {
    const page = await visit("#/memory/file/MEMORY.md?q=&e=1");
    const field = text(page, "MEMORY.md");
    await expect.poll(() => field.inputValue()).toContain("router");
    await field.fill("mine");
    await writeFile(join(gateway.workspace, "MEMORY.md"), "theirs");
    await save(page);
    const theirs = page.getByRole("region", { name: "Their text" });
    await theirs.getByText("theirs", { exact: true }).waitFor();
    expect([await field.inputValue(), await onDisk("MEMORY.md")]).toEqual(["mine", "theirs"]);
    await tab.picture("note-conflict-desktop");
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
    await page.getByRole("button", { name: "Save mine over theirs" }).click();
    await said(page, "MEMORY.md was saved.");
    expect(await onDisk("MEMORY.md")).toBe("mine");

    await page.getByRole("link", { name: "Edit" }).click();
    await field.fill("mine again");
    await writeFile(join(gateway.workspace, "MEMORY.md"), hostileTexts.join("\n"));
    await save(page);
    await theirs.waitFor();
    expect(await markupOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Take theirs, drop mine" }).click();
    await expect.poll(() => field.inputValue()).toBe(hostileTexts.join("\n"));

    await field.fill("after it was deleted");
    await rm(join(gateway.workspace, "MEMORY.md"));
    await save(page);
    await page.getByText(/somebody has deleted the note/).waitFor();
    await page.getByRole("button", { name: "Save mine over theirs" }).click();
    // The sentence about the first save may still stand there.
    await expect.poll(() => onDisk("MEMORY.md").catch(() => undefined)).toBe("after it was deleted");
  });

  test("keeps its line ends, and text that is typed while it is saved stays", async () => {
    const page = await visit("#/memory/file/memory/windows.md?q=&e=1");
    const field = text(page, "memory/windows.md");
    await expect.poll(() => field.inputValue()).toBe("one\ntwo\n");
    await field.fill("one\ntwo\nthree\n");
    await page.evaluate(`(() => {
      const field = document.querySelector("textarea.source");
      [...document.querySelectorAll("button")].find((button) => button.textContent === "Save").click();
      field.value += "four\\n";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    })()`);
    await said(page, "memory/windows.md was saved.");
    expect(await onDisk("memory/windows.md")).toBe("one\r\ntwo\r\nthree\r\n");
    expect(await field.inputValue()).toBe("one\ntwo\nthree\nfour\n");
    await page.getByRole("button", { name: "Discard changes" }).click();
    expect(await field.inputValue()).toBe("one\ntwo\nthree\n");
  });

  test("readers cannot write one, and read why; a failure names itself and can be tried again", async () => {
    let error: { code: string; message: string } | undefined = { code: "UNAVAILABLE", message: "the disk is away" };
    const change = [without("admin|write"), failing("file", () => error)];
    tab = await visitChanged(browser, gateway, "#/memory", (frame) => change.reduce((changed, one) => one(changed), frame));
    const { page } = tab;
    const button = page.getByRole("button", { name: "New note" });
    await button.waitFor();
    expect(await button.getAttribute("title")).toBe("This sign-in is not an administrator's");
    await page.getByRole("link", { name: /memory\/garden\.md/ }).click();
    await page.locator(".lines").getByText("The roses").waitFor();
    expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
    await page.evaluate("location.hash = '#/memory/file/memory/garden.md?q=&e=1'");
    await page.getByRole("alert").getByText("the disk is away").waitFor();
    error = undefined;
    await page.getByRole("button", { name: "Retry" }).click();
    await expect.poll(() => text(page, "memory/garden.md").getAttribute("readonly")).not.toBeNull();
  });
});

describe("charts", () => {
  test("are fetched when Overview is seen, and each says in a sentence what it shows", async () => {
    const page = await visit("#/overview");
    const charts = page.getByRole("region", { name: "Last 30 minutes" });
    await page.locator(".charts-place, .charts").first().scrollIntoViewIfNeeded();
    await charts.getByText(/^[\d.,]+ ms/).waitFor();
    await charts.scrollIntoViewIfNeeded();
    expect(await charts.locator("canvas").count()).toBe(6);
    const sentences = await charts.locator("figcaption").allInnerTexts();
    expect(sentences.map((text) => text.replace(/[\d.,]*\d/g, "N"))).toEqual([
      expect.stringMatching(/^N ms/),
      expect.stringMatching(/^N MB/),
      "The first minute is being counted.",
      "The first minute is being counted.",
      "None.",
      "Nothing.",
    ]);
    await tab.picture("charts-desktop");
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  });

  test("stand below each other on a phone", async () => {
    const page = await visit("#/overview", phone);
    const charts = page.getByRole("region", { name: "Last 30 minutes" });
    await page.locator(".charts-place, .charts").first().scrollIntoViewIfNeeded();
    await charts.getByText(/^[\d.,]+ ms/).waitFor();
    await charts.scrollIntoViewIfNeeded();
    expect(await isOneColumn(page)).toBe(true);
    await tab.picture("charts-phone");
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  });
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing in the editor, light and dark, in one column: %s", async (name, options) => {
  const page = await visit("#/memory/new", options);
  await text(page, "Name").fill("garden beds");
  for (const [view, sign] of [
    ["memory/new", "textarea"],
    ["memory/file/memory/garden.md?q=&e=1", "textarea"],
  ] as const) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${view}`);
    await page.locator(sign).first().waitFor();
    expect(await axeViolationsInBothSchemes(page), view).toEqual([]);
    expect(await isOneColumn(page), view).toBe(true);
    await tab.picture(`note-${view === "memory/new" ? "new-" : ""}${name.replace(/ /g, "-")}`);
  }
});
