import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page, Response } from "playwright-core";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, openTab, phone, type Tab, takeTab } from "./_browser.ts";

const { describe, test } = needs("chromium");

const notes = join(import.meta.dirname, "../../examples/workspace");
const question = "Where is the router?";
/** Most that a first load may be before the charts come: answers, page and icon included, and bytes of their bodies as they are sent. */
const REQUESTS = 30;
const BYTES = 60 * 1024;

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({ workspace: await readNotes() });
  await gateway.rpc("memory.index", {});
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

async function readNotes(): Promise<Record<string, string>> {
  const names = (await readdir(notes, { recursive: true })).filter((name) => name.endsWith(".md"));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(notes, name), "utf8")])));
}

async function signIn(options: Parameters<typeof takeTab>[1] = desktop, address = ""): Promise<Page> {
  tab = await takeTab(browser, options);
  await enter(tab.page);
  if (address !== "") await visit(tab.page, address);
  return tab.page;
}

async function enter(page: Page): Promise<void> {
  await page.goto(`${gateway.url}/#token=${gateway.token}`);
  await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
}

async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

async function ask(page: Page, text: string): Promise<void> {
  const answers = page.locator(".answer .answer-actions");
  const before = await answers.count();
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  await answers.nth(before).waitFor();
}

function newChat(): string {
  return `#/chat/agent%3Amain%3Atest-${Math.random().toString(16).slice(2)}`;
}

/** The palette and what it imports alone: a second after the page is connected, which on a slow machine is before the overview is there. */
const fetchedAhead = [
  "ui/palette.js",
  "ui/dialog.js",
  "core/panel-facts.js",
  "core/panels.js",
  "texts/palette.js",
  "views/panels/start.js",
  "views/panels/icon.js",
];

describe("connecting", () => {
  test("#token= signs in, is wiped from the address, and stays out of everything but the tab's storage", async () => {
    tab = await openTab(browser);
    const { page } = tab;
    await enter(page);

    expect(page.url()).toBe(`${gateway.url}/#/overview`);
    expect(await page.evaluate(() => history.length)).toBe(2);
    expect(await page.content()).not.toContain(gateway.token);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(gateway.token);
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).toContain(gateway.token);
    await page.reload();
    await page.getByText("Connected", { exact: true }).waitFor();
  });

  test("a page from elsewhere cannot make it connect elsewhere", async () => {
    tab = await openTab(browser);
    const sockets: string[] = [];
    tab.page.on("websocket", (socket) => sockets.push(socket.url()));

    await tab.page.goto(`${gateway.url}/?gatewayUrl=ws://127.0.0.1:9/&token=stolen#token=${gateway.token}`);
    await tab.page.getByText("Connected", { exact: true }).waitFor();

    expect(sockets).toEqual([`${gateway.wsUrl}/`]);
    expect(tab.page.url()).toBe(`${gateway.url}/#/overview`);
    expect(await tab.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain("127.0.0.1:9");
  });

  test("the first load is small, its modules are the preloaded ones, and a second visit asks for the page only", async () => {
    tab = await openTab(browser);
    const seen: Response[] = [];
    tab.page.on("response", (response) => seen.push(response));
    const wire = await onTheWire(tab.page);
    await enter(tab.page);
    await tab.page.getByText("keyword search").waitFor();
    const isAhead = (response: Response) => fetchedAhead.some((name) => response.url().endsWith(`/${name}`));
    const first = seen.splice(0).filter((response) => !isAhead(response));
    const preloaded = await tab.page
      .locator('link[rel="modulepreload"]')
      .evaluateAll((links) => links.map((l) => (l as HTMLLinkElement).href));

    // Requests of the first load must not be counted with those of the second.
    await tab.page.waitForLoadState("networkidle");
    for (const response of first) await response.finished();
    wire.begin();
    await tab.page.reload();
    await tab.page.getByText("keyword search").waitFor();

    const lazy = first.map((r) => r.url()).filter((url) => url.endsWith(".js") && !preloaded.includes(url));
    expect(lazy.map((url) => url.replace(/.*\/assets\/[^/]+\//, ""))).toEqual(["views/overview.js", "core/examples.js"]);
    const bytes = await Promise.all(first.map(async (r) => (await r.request().sizes()).responseBodySize));
    const names = first.map((r) => r.url().replace(/.*\/assets\/[^/]+\//, ""));
    expect(names.length, names.join(" ")).toBeLessThanOrEqual(REQUESTS);
    expect(bytes.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(BYTES);
    expect(wire.again()).toEqual(["304 /"]);
  });
});

interface Wire {
  /** Status and path of the answers in the second visit that came from the gateway and not from the browser's cache, to what the first had asked for, too. */
  again(): string[];
  /** Begins the second visit. */
  begin(): void;
}

async function onTheWire(page: Page): Promise<Wire> {
  const session = await page.context().newCDPSession(page);
  const before = new Set<string>();
  const asked = new Map<string, string>();
  const answered: Array<{ requestId: string; statusCode: number }> = [];
  session.on("Network.requestWillBeSent", ({ requestId, request }) => asked.set(requestId, new URL(request.url).pathname));
  session.on("Network.responseReceivedExtraInfo", (answer) => answered.push(answer));
  await session.send("Network.enable");
  return {
    // The palette is fetched a second after the page is connected, so that the second visit may be the first to ask for it.
    again: () =>
      answered.flatMap(({ requestId, statusCode }) => {
        const path = asked.get(requestId);
        return path !== undefined && before.has(path) ? `${statusCode} ${path}` : [];
      }),
    begin: () => {
      for (const path of asked.values()) before.add(path);
      asked.clear();
    },
  };
}

describe("a question", () => {
  test("asked on the overview is answered in the chat, and its source opens at its lines", async () => {
    const page = await signIn();
    await page.getByRole("textbox", { name: "Question" }).fill(question);
    await page.getByRole("button", { name: "Ask", exact: true }).click();

    await page.locator(".answer .answer-actions").waitFor();
    const chip = page.locator(".answer > .chips .chip").first();
    const place = /memory\/file\/(.+)\?l=(\d+)-(\d+)$/.exec((await chip.getAttribute("href")) ?? "");
    await tab.picture("chat-desktop");
    await chip.click();
    await page.locator("mark").first().waitFor();

    const [path, from, to] = [place?.[1] ?? "", Number(place?.[2]), Number(place?.[3])];
    const lines = (await readFile(join(notes, path), "utf8")).split("\n").slice(from - 1, to);
    const marked = await page.locator("mark").allTextContents();
    expect(marked.map((line) => line.trimEnd())).toEqual(lines.map((line) => line.trimEnd()));
    expect(marked.join("\n")).toContain("router");
    expect(await page.locator(".transcript").isVisible()).toBe(true);
    await tab.picture("file-desktop");
    expect(await page.getByText(/^Source:/).count()).toBe(0);
  });

  test("shows its tool call as one closed row with the hits inside", async () => {
    const page = await signIn(desktop, newChat());
    await ask(page, question);

    const row = page.locator("details.tool");
    expect(await row.count()).toBe(1);
    expect(await row.getAttribute("open")).toBeNull();
    expect(await row.locator("summary").textContent()).toMatch(/memory_search.*Where is the router\?.*\d+ hits?/s);
    await row.locator("summary").click();
    expect(await row.locator(".hits li").count()).toBeGreaterThan(0);
    await tab.picture("tool-desktop");
  });

  test("is one bubble from the press of Send to the stored transcript, also after a reload", async () => {
    const page = await signIn(desktop, newChat());

    await ask(page, question);
    expect(await page.locator(".bubble").allTextContents()).toEqual([question]);
    await page.reload();
    await page.locator(".answer .answer-actions").waitFor();

    expect(await page.locator(".bubble").allTextContents()).toEqual([question]);
    expect(await page.evaluate(() => Object.keys(localStorage).filter((k) => k.includes(":out:")))).toEqual([]);
  });

  test("half written survives a reload and a look elsewhere", async () => {
    const page = await signIn(desktop, newChat());
    await page.getByRole("textbox", { name: "Message" }).fill("not yet finis");

    await page.getByRole("link", { name: "Sessions", exact: true }).click();
    await page.goBack();
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("not yet finis");
    await page.reload();

    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("not yet finis");
  });

  test("example questions are filled in, not sent", async () => {
    const page = await signIn(desktop, newChat());

    const example = page.locator(".transcript .chip").first();
    const text = await example.textContent();
    await example.click();

    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe(text);
    expect(await page.locator(".bubble").count()).toBe(0);
  });
});

describe("sessions", () => {
  test("can be found, renamed, pinned, archived and deleted, and deleting names the loss", async () => {
    const page = await signIn(desktop, newChat());
    await ask(page, "When is the boiler serviced?");
    await page.getByRole("link", { name: "Sessions", exact: true }).click();
    const row = page.locator(".session", { hasText: "boiler" });

    await page.getByRole("searchbox").fill("BOILER");
    await expectCount(page, ".session", 1);
    await act(page, row, "Rename");
    await page.getByRole("textbox").last().fill("Heating");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("searchbox").fill("heating");
    const renamed = page.locator(".session", { hasText: "Heating" });
    await renamed.waitFor();
    await act(page, renamed, "Pin");
    await renamed.getByText("pinned").waitFor({ state: "attached" });
    await tab.picture("sessions-desktop");
    await act(page, renamed, "Archive");
    await page.getByText("No session matches").waitFor();
    await page.getByRole("searchbox").fill("");
    await page.getByRole("button", { name: "Archived", exact: true }).click();
    await act(page, renamed, "Delete");
    const dialog = page.getByRole("dialog");
    expect(await dialog.textContent()).toContain("Delete “Heating”, 4 messages?");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Cancel");
    await tab.picture("delete-desktop");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No archived sessions").waitFor();

    const { sessions } = await gateway.rpc<{ sessions: Array<{ label?: string }> }>("sessions.list", {});
    expect(sessions.filter((s) => s.label === "Heating")).toEqual([]);
  });

  test("a reset leaves the name and empties the open chat", async () => {
    const address = newChat();
    const page = await signIn(desktop, address);
    await ask(page, "How do I bake the bread?");
    await visit(page, "#/sessions");
    const row = page.locator(".session", { hasText: "bake" });

    await act(page, row, "Reset");
    await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await visit(page, address);

    await page.getByText("What would you like to know?").waitFor();
    expect(await page.locator(".bubble").count()).toBe(0);
  });

  test("what another client asks appears in an open chat", async () => {
    const address = newChat();
    const page = await signIn(desktop, address);
    await page.getByText("What would you like to know?").waitFor();

    const sessionKey = decodeURIComponent(address.slice("#/chat/".length));
    await gateway.rpc("chat.send", { sessionKey, message: question, idempotencyKey: `other-${Date.now()}` });

    await page.locator(".answer .answer-actions").waitFor();
    expect(await page.locator(".bubble").allTextContents()).toEqual([question]);
  });
});

describe("keyboard", () => {
  test("goes everywhere without a pointer: views, palette, a source, another session, help", async () => {
    const page = await signIn();
    await page.locator("main").focus();
    await page.keyboard.press("n");
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await page.keyboard.type("Where is the bike?");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("And its key?");
    await page.keyboard.press("Enter");
    await page.locator(".answer .answer-actions").waitFor();
    expect(await page.locator(".bubble").textContent()).toBe("Where is the bike?\nAnd its key?");

    await page.keyboard.press("ArrowUp");
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Where is the bike?\nAnd its key?");
    await page.keyboard.press("ArrowDown");
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("");
    await page.locator(".answer > .chips .chip").first().focus();
    await page.keyboard.press("Enter");
    await page.locator("mark").first().waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await page.keyboard.press("/");
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).type)).toBe("search");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("about");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "About", exact: true }).waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    await page.keyboard.press("Alt+ArrowDown");
    await page.getByRole("textbox", { name: "Message" }).waitFor();
  });
});

describe("phone", () => {
  test("one column: bottom bar, list and chat as two pages, a source as a page, Enter as a new line", async () => {
    const page = await signIn(phone);
    expect(await page.locator("nav.bottom").isVisible()).toBe(true);
    expect(await page.locator("nav.rail").isVisible()).toBe(false);
    await tab.picture("overview-phone");

    await visit(page, newChat());
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("Where is");
    await field.press("Enter");
    await page.keyboard.type("the router?");
    await page.getByRole("button", { name: "Send" }).tap();
    await page.locator(".answer .answer-actions").waitFor();
    expect(await page.locator(".bubble").textContent()).toBe("Where is\nthe router?");
    expect(await page.locator(".session-list").count()).toBe(0);
    await tab.picture("chat-phone");
    await page.locator(".answer > .chips .chip").first().tap();
    await page.locator("mark").first().waitFor();
    expect(await page.locator(".transcript").count()).toBe(0);
    await tab.picture("file-phone");
    await page.getByRole("button", { name: "Back" }).tap();
    await page.locator(".bubble").waitFor();
    await page.getByRole("link", { name: "All sessions" }).tap();
    await page.locator(".session").first().waitFor();
    await tab.picture("sessions-phone");
  });

  test.each([phone, { width: 320, height: 640, touch: true }, { width: 720, height: 450 }])(
    "nothing but code and tables scrolls sideways at $width × $height",
    async (size) => {
      const page = await signIn(size);
      for (const address of ["#/overview", "#/chat/agent%3Amain%3Amain", "#/sessions", "#/about", "#/memory/file/MEMORY.md?l=1-2"]) {
        await visit(page, address);
        await page.locator("main h1, main .transcript").first().waitFor();
        const wider = await page.evaluate(
          () =>
            [document.documentElement, ...document.querySelectorAll("main, main > div, .shown-view > div")].filter(
              (e) => e.scrollWidth > e.clientWidth + 1,
            ).length,
        );
        expect(wider, address).toBe(0);
      }
    },
  );
});

describe("axe finds nothing", () => {
  test.each([
    ["desktop", desktop],
    ["phone", phone],
  ])("%s, light and dark", async (name, size) => {
    const page = await signIn(size);
    const check = async (what: string) => {
      expect(await axeViolationsInBothSchemes(page), what).toEqual([]);
      await tab.picture(`${what}-${name}`);
    };
    await page.getByText("keyword search").waitFor();
    await check("overview");
    await visit(page, newChat());
    await page.getByText("What would you like to know?").waitFor();
    await check("chat-empty");
    await ask(page, question);
    await page.locator("details.tool summary").click();
    await check("chat");
    await page.locator(".answer > .chips .chip").first().click();
    await page.locator("mark").first().waitFor();
    await check("file");
    await visit(page, "#/sessions");
    await page.locator(".session").first().waitFor();
    await check("sessions");
    await page.locator(".session button").first().click();
    await check("session-menu");
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("dialog").waitFor();
    await check("rename");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await check("palette");
    await page.keyboard.press("Escape");
    await visit(page, "#/about");
    await page.getByRole("heading", { name: "About", exact: true }).waitFor();
    await check("about");
  });
});

async function act(page: Page, row: ReturnType<Page["locator"]>, word: string): Promise<void> {
  await row.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: word }).click();
}

async function expectCount(page: Page, selector: string, count: number): Promise<void> {
  await expect.poll(() => page.locator(selector).count()).toBe(count);
}
