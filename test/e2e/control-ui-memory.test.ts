import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolations, axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab, takeTab } from "./_browser.ts";

const { describe, test } = needs("chromium");

const notes = {
  "MEMORY.md": `# Home\n\n${"A line about nothing much.\n".repeat(60)}\nThe router stands in the hall, on the second shelf.\nIts password is on a sticker.\n`,
  "memory/2026-10-02.md": "# Day\n\nThe boiler was serviced by Ana. The router was restarted.\n",
  "memory/garden.md": "# Garden\n\nThe roses are cut in March.\n",
};

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({
    workspace: notes,
    config: {
      agents: {
        defaults: { memorySearch: { provider: "none", sources: ["memory", "sessions"], experimental: { sessionMemory: true } } },
        list: [
          { id: "main", default: true },
          { id: "empty", workspace: "empty-workspace" },
        ],
      },
    },
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

async function signIn(options: Parameters<typeof takeTab>[1] = desktop, address = "#/memory"): Promise<Page> {
  tab = await takeTab(browser, options);
  await tab.page.goto(`${gateway.url}/#token=${gateway.token}`);
  await tab.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
  await visit(tab.page, address);
  return tab.page;
}

async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

const field = (page: Page) => page.getByRole("searchbox", { name: "Search memory" });
const hits = (page: Page) => page.locator(".hit");

describe("what the memory holds", () => {
  test("a sentence and the files, the last changed first, each opening beside the list", async () => {
    const page = await signIn();

    await page.getByText("Search by words: 3 files").waitFor();
    const rows = page.locator(".row-line");
    expect(await rows.count()).toBe(3);
    await page.getByText("3 of 3").waitFor();
    await page.getByRole("link", { name: /memory\/garden\.md/ }).click();

    await page.getByText("The roses are cut in March.").waitFor();
    expect(await field(page).isVisible()).toBe(true);
    expect(page.url()).toMatch(/#\/memory\/file\/memory\/garden\.md\?q=$/);
    await page.getByRole("button", { name: "Close file" }).click();
    await page.getByText("3 of 3").waitFor();
  });

  test("an agent without notes is told where to put one, and another agent is one choice away", async () => {
    const page = await signIn();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("empty");

    await page.getByRole("heading", { name: "No notes yet" }).waitFor();
    expect(await page.locator(".folder code").textContent()).toMatch(/empty-workspace\/memory$/);
    expect(page.url()).toMatch(/#\/memory\?a=empty$/);
    await tab.picture("memory-empty-desktop");

    const folder = (await page.locator(".folder code").textContent()) ?? "";
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "first.md"), "The key hangs in the shed.\n");
    await page.getByRole("button", { name: "Reindex" }).click();
    await page.getByRole("menuitem", { name: "Bring up to date" }).click();
    await page.getByRole("link", { name: /first\.md/ }).waitFor();
  });
});

describe("a search", () => {
  test("shows scores and marked words, and opens the place with its lines marked in the middle", async () => {
    const page = await signIn();
    await field(page).fill("Where is the router?");
    await page.keyboard.press("Enter");

    await hits(page).first().waitFor();
    const found = hits(page).filter({ hasText: "second shelf" }).first();
    expect(await found.locator("mark").allTextContents()).toContain("router");
    expect(await found.locator(".scores").textContent()).toMatch(/score \d\.\d\d.*meaning –.*words \d\.\d\d/);
    expect(page.url()).toContain("?q=Where+is+the+router%3F");
    await tab.picture("memory-hits-desktop");
    await found.getByRole("link", { name: /^Open MEMORY\.md/ }).click();

    await page.locator(".lines .marked").first().waitFor();
    expect((await page.locator(".lines .marked").allTextContents()).join("\n")).toContain("second shelf");
    await expect.poll(() => page.locator(".lines .marked").first().isVisible()).toBe(true);
    expect(await hits(page).count()).toBeGreaterThan(0);
    await tab.picture("memory-file-desktop");
    await page.goBack();
    await hits(page).first().waitFor();
  });

  test("an address brings the search and the file back after a reload", async () => {
    const page = await signIn(desktop, "#/memory/file/MEMORY.md?l=3-4&q=router");
    await page.locator(".lines .marked").first().waitFor();
    await page.reload();

    await page.locator(".lines .marked").first().waitFor();
    await hits(page).first().waitFor();
    expect(await field(page).inputValue()).toBe("router");
    expect(await page.locator(".rail [aria-current]").textContent()).toContain("Memory");
  });

  test("that finds nothing says so, and an emptied field brings the files back", async () => {
    const page = await signIn(desktop, "#/memory?q=zeppelin");
    await page.getByText("Nothing found for “zeppelin”").waitFor();
    await field(page).fill("");
    await page.getByText("3 of 3").waitFor();
  });

  test("what was said is found too, and opens in its chat at that message, however far back it is", async () => {
    const key = "agent:main:talk";
    const runId = "talk-1";
    await gateway.rpc("chat.send", { sessionKey: key, message: "My aunt Philomena collects barometers.", idempotencyKey: runId });
    await gateway.rpc("agent.wait", { runId, timeoutMs: 20_000 });
    for (let i = 0; i < 210; i++) await gateway.rpc("chat.inject", { sessionKey: key, message: `Note number ${i}` });
    await gateway.service("memory@1").sync("main", { force: true });

    const page = await signIn(desktop, "#/memory?q=Philomena");
    await page.getByText(/3 files, 1 conversation/).waitFor();
    await page.getByRole("link", { name: "Open the conversation" }).click();

    const turn = page.locator(".turn.shown", { hasText: "Philomena" });
    await turn.waitFor();
    expect(page.url()).toContain(`#/chat/${encodeURIComponent(key)}?m=1`);
    const isAtTop = async () => {
      const [view, box] = await Promise.all([page.locator(".transcript").boundingBox(), turn.boundingBox()]);
      return Math.abs((box?.y ?? 0) - (view?.y ?? 0));
    };
    await expect.poll(isAtTop).toBeLessThan(40);
    await tab.picture("chat-message-desktop");
    expect(await axeViolations(page)).toEqual([]);

    await page.reload();
    await turn.waitFor();
    await expect.poll(isAtTop).toBeLessThan(40);
    await visit(page, `#/chat/${encodeURIComponent(key)}?m=no-such-message`);
    await page.getByText("That message is not in this conversation").waitFor();

    // Scrolling up reads a page of its own; a search that meets it waits for that page.
    await visit(page, `#/chat/${encodeURIComponent(key)}`);
    await page.reload();
    const found = await page.evaluate(`(async () => {
      const { findMessage, isReadable, loadOlder, openChat } = await import(new URL("core/chat.js", document.querySelector("script[src$='/main.js']").src));
      const chat = openChat(${JSON.stringify(key)});
      while (!isReadable(chat)) await new Promise(requestAnimationFrame);
      const [, message] = await Promise.all([loadOlder(chat), findMessage(chat, "1")]);
      return message?.__svc?.seq;
    })()`);
    expect(found).toBe(1);
  });
});

test("in a chat, what the gateway told the agent is a quiet line and no question", async () => {
  await gateway.rpc("system-event", { text: "The front door opened", mode: "next-heartbeat" });
  const runId = "after-the-event";
  await gateway.rpc("chat.send", { sessionKey: "main", message: "What happened?", idempotencyKey: runId });
  await gateway.rpc("agent.wait", { runId, timeoutMs: 20_000 });

  const page = await signIn(desktop, "#/chat/agent%3Amain%3Amain");
  const line = page.locator("details.system", { hasText: "The front door opened" });
  await line.waitFor();
  await page.locator(".bubble", { hasText: "What happened?" }).waitFor();
  expect(await page.locator(".bubble", { hasText: "front door" }).count()).toBe(0);
  await line.locator("summary").click();
  await tab.picture("chat-event-desktop");
  expect(await axeViolations(page)).toEqual([]);
});

describe("the index", () => {
  test("can be rebuilt, and is reset only for who types the agent's name", async () => {
    const page = await signIn();
    const menu = async (name: string) => {
      await page.getByRole("button", { name: "Reindex" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await page.getByText(/Search by words: 3 files/).waitFor();
    await menu("Rebuild from all notes");
    await page.getByText("The index is up to date").waitFor();

    await menu("Reset the index");
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("heading").textContent()).toMatch(/Reset the memory index of “main”, \d+ passages? of \d+ files?\?/);
    await dialog.getByRole("textbox").fill("mian");
    await dialog.getByRole("button", { name: "Reset" }).click();
    await dialog.getByText("Nothing was reset").waitFor();
    await dialog.getByRole("textbox").fill("main");
    await dialog.getByRole("button", { name: "Reset" }).click();
    await page.getByText("The index was reset").waitFor();

    await menu("Bring up to date");
    await page.getByText(/Search by words: 3 files/).waitFor();
  });

  test("shows how far a rebuild is", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, i) => [`memory/n${i}.md`, `# Note ${i}\n\n${"Some words. ".repeat(80)}\n`]),
    );
    const own = await createTestGateway({ workspace: many, config: { agents: { defaults: { memorySearch: { provider: "none" } } } } });
    try {
      tab = await takeTab(browser);
      await tab.page.goto(`${own.url}/#token=${own.token}`);
      await tab.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
      await visit(tab.page, "#/memory");
      await tab.page.getByText(/2,000 files/).waitFor();
      await tab.page.getByRole("button", { name: "Reindex" }).click();
      await tab.page.getByRole("menuitem", { name: "Rebuild from all notes" }).click();

      await tab.page.getByRole("progressbar", { name: "Index" }).waitFor();
      await tab.page.getByText("The index is up to date").waitFor();
      await expect.poll(() => tab.page.getByRole("progressbar").count()).toBe(0);
    } finally {
      // The page would try to come back.
      await tab.leave();
      await own.close();
    }
  });

  test("says what is wrong in one line, and why behind a button", async () => {
    const page = await signIn();
    await page.getByText(/Search by words: 3 files/).waitFor();
    await gateway.reload({ agents: { defaults: { memorySearch: { provider: "openai" } } } });
    await page.reload();
    await visit(page, "#/memory");

    const why = page.getByRole("button", { name: "Why?" }).first();
    await why.click();
    await page.getByText("svc memory status").first().waitFor();
    expect(await why.getAttribute("aria-expanded")).toBe("true");
    await tab.picture("memory-trouble-desktop");
    expect(await axeViolations(page)).toEqual([]);
    await gateway.reload({
      agents: {
        defaults: { memorySearch: { provider: "none" } },
        list: [
          { id: "main", default: true },
          { id: "empty", workspace: "empty-workspace" },
        ],
      },
    });
  });
});

describe("keyboard and phone", () => {
  test("g m, the palette and / lead there", async () => {
    const page = await signIn(desktop, "#/overview");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await field(page).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("boiler");
    await page.keyboard.press("Enter");
    await hits(page).first().waitFor();

    await visit(page, "#/about");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /Go to a view/ }).fill("memo");
    await page.keyboard.press("Enter");
    await field(page).waitFor();
  });

  test("on a phone everything fits, hits are rows and a file is a page", async () => {
    const page = await signIn(phone, "#/memory?q=router");
    await hits(page).first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await tab.picture("memory-hits-phone");
    await page
      .getByRole("link", { name: /^Open / })
      .first()
      .click();
    await page.locator(".lines .marked").first().waitFor();
    expect(await field(page).isVisible()).toBe(false);
    await tab.picture("memory-file-phone");
    await page.getByRole("button", { name: "Close file" }).click();
    await hits(page).first().waitFor();
  });
});

describe("axe finds nothing", () => {
  test.each([
    { what: "1440", options: desktop },
    { what: "390", options: phone },
  ])("$what, light and dark", async ({ what, options }) => {
    const page = await signIn(options);
    for (const [name, address, sign] of [
      ["files", "#/memory", ".row-line"],
      ["hits", "#/memory?q=router", ".hit"],
      ["file", "#/memory/file/MEMORY.md?l=3-4&q=router", ".lines .marked"],
    ] as const) {
      await visit(page, address);
      await page.locator(sign).first().waitFor();
      await tab.picture(`memory-${name}-${what}`);
      expect(await axeViolationsInBothSchemes(page), `${what} ${name}`).toEqual([]);
    }
  });
});

test("while the gateway is away the page keeps what it shows, says how old it is, and searches no more", async () => {
  const own = await createTestGateway({ workspace: notes, config: { agents: { defaults: { memorySearch: { provider: "none" } } } } });
  tab = await takeTab(browser);
  const { page } = tab;
  try {
    await own.service("memory@1").sync("main");
    await page.goto(`${own.url}/#token=${own.token}`);
    await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    await visit(page, "#/memory");
    await page.getByText(/Search by words: 3 files/).waitFor();
  } finally {
    await own.close();
  }

  await page.getByText(/As of \d\d:\d\d/).waitFor();
  expect(await page.locator(".row-line").count()).toBe(3);
  expect(await page.getByRole("button", { name: "Search", exact: true }).getAttribute("aria-disabled")).toBe("true");
  await tab.picture("memory-stale-desktop");
  await tab.leave();
  tab.problems.length = 0; // a socket that cannot connect is said on the console
});
