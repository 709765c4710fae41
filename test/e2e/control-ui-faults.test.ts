import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { SessionRow } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolations, launchChromium, openTab, type Tab, takeTab } from "./_browser.ts";
import { createHome, type Home, type Running, startGateway } from "./_process.ts";

const { describe, test } = needs("chromium");

const mirror = join(import.meta.dirname, "../fixtures/plugins/model-mirror");
const plugins = ["store", "agents", "memory-core", "model-recall", "control-ui", mirror];

let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
afterEach(() => tab?.leave());

async function openChat(url: string, token: string, key: string): Promise<Page> {
  tab = await takeTab(browser);
  await tab.page.goto(`${url}/#token=${token}`);
  await tab.page.getByText("Connected", { exact: true }).waitFor();
  await tab.page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/chat/${encodeURIComponent(key)}`,
  );
  await tab.page.getByText("What would you like to know?").waitFor();
  return tab.page;
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

/** Text and place of the first turn that can be seen. */
function firstVisible(page: Page): Promise<string> {
  return page.evaluate(() => {
    const top = document.querySelector(".transcript")?.getBoundingClientRect().top ?? 0;
    const turn = [...document.querySelectorAll(".turn")].find((e) => e.getBoundingClientRect().bottom > top);
    return turn ? `${turn.querySelector(".bubble")?.textContent} ${Math.round(turn.getBoundingClientRect().top - top)}` : "";
  });
}

/** A session with `count` messages, written straight into the store. */
async function writeHistory(gateway: TestGateway, key: string, count: number): Promise<void> {
  const at = Date.now() - 3_600_000;
  const sessionId = `id-${key}`;
  const session: SessionRow = {
    key,
    sessionId,
    agentId: "main",
    kind: "direct",
    createdAt: at,
    updatedAt: at,
    sessionStartedAt: at,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    archived: false,
    pinned: false,
    unread: false,
  };
  const messages = Array.from({ length: count }, (_, i) => ({
    op: "message.append" as const,
    message: {
      id: `${sessionId}-${i}`,
      sessionId,
      ts: at + i,
      role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: [{ type: "text" as const, text: `${i % 2 === 0 ? "Question" : "Answer"} ${Math.floor(i / 2)}` }],
      runId: `${sessionId}-run-${Math.floor(i / 2)}`,
    },
  }));
  await gateway.service("store@2").commit([{ op: "session.put", session }, ...messages]);
}

const answerText = (page: Page) => page.locator(".answer .md").allTextContents();

describe("while an answer is being written", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({ plugins });
  });
  afterAll(() => gateway?.close());
  afterEach(() => expect(tab.problems).toEqual([]));
  const say = (text: string, last = false) => gateway.rpc("model-mirror.say", { text, last });

  test("it grows, and the view follows until the reader scrolls up", async () => {
    const page = await openChat(gateway.url, gateway.token, "agent:main:follow");
    await write(page, "dictate something long");
    await say(`${Array.from({ length: 60 }, (_, i) => `Line ${i}.`).join("\n\n")}\n\n`);
    await page.getByText("Line 59.").waitFor();
    const view = page.locator(".transcript");
    const atEnd = () => view.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight < 2);
    await expect.poll(atEnd).toBe(true);

    await view.hover();
    await page.mouse.wheel(0, -600);
    await page.getByRole("button", { name: "Latest" }).waitFor();
    const place = await page.getByText("Line 40.").evaluate((e) => Math.round(e.getBoundingClientRect().top));
    await say("More of it.\n\n");
    await page.getByText("More of it.").waitFor();
    expect(await page.getByText("Line 40.").evaluate((e) => Math.round(e.getBoundingClientRect().top))).toBe(place);

    await page.getByRole("button", { name: "Latest" }).click();
    await expect.poll(atEnd).toBe(true);
    await say("The end.", true);
    await page.locator(".answer .answer-actions").waitFor();
    expect(await atEnd()).toBe(true);
    expect(await page.locator(".bubble").count()).toBe(1);
  });

  test("a code block keeps its element while it grows", async () => {
    const page = await openChat(gateway.url, gateway.token, "agent:main:code");
    await write(page, "dictate code");
    await say("Here:\n\n```js\nconst a = 1;\n");
    await page.locator(".code pre").waitFor();
    await page.locator(".code").evaluate((e) => e.setAttribute("data-first", "yes"));

    await say("const b = 2;\n```\n\nDone.", true);
    await page.getByText("Done.", { exact: true }).waitFor();

    expect(await page.locator(".code[data-first=yes] pre").textContent()).toBe("const a = 1;\nconst b = 2;");
  });

  test("a reload adopts it and it goes on in one piece", async () => {
    const page = await openChat(gateway.url, gateway.token, "agent:main:adopt");
    await write(page, "dictate slowly");
    await say("First half, ");
    await page.getByText("First half,").waitFor();

    await page.reload();
    await page.getByText("First half,").waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await say("second half.", true);
    await page.locator(".answer .answer-actions").waitFor();

    expect(await answerText(page)).toEqual(["First half, second half."]);
    expect(await page.locator(".bubble").allTextContents()).toEqual(["dictate slowly"]);
  });

  test("Stop keeps what was written and says so, also in the history", async () => {
    const page = await openChat(gateway.url, gateway.token, "agent:main:stop");
    await write(page, "dictate and stop");
    await say("As far as here");
    await page.getByText("As far as here").waitFor();
    await page.locator(".stop").click();
    await page.getByText("Stopped", { exact: true }).waitFor();

    await page.reload();
    await page.getByText("Stopped", { exact: true }).waitFor();

    expect(await answerText(page)).toEqual(["As far as here"]);
    expect(await page.getByRole("button", { name: "Send" }).isVisible()).toBe(true);
  });

  test("Escape in the composer stops it, and a second question waits for its turn", async () => {
    const page = await openChat(gateway.url, gateway.token, "agent:main:turns");
    await write(page, "dictate one");
    await say("One ");
    await page.getByText("One", { exact: true }).waitFor();
    await write(page, "two");
    await page.getByText("Waiting for its turn").waitFor();

    await page.getByRole("textbox", { name: "Message" }).press("Escape");
    await page.locator(".answer .answer-actions").nth(1).waitFor();

    expect(await page.locator(".bubble").allTextContents()).toEqual(["dictate one", "two"]);
    expect(await answerText(page)).toEqual(["One ", "two"]);
  });

  test("the list and the overview show that it runs, and can stop it from there", async () => {
    const page = await openChat(gateway.url, gateway.token, "agent:main:elsewhere");
    await write(page, "dictate elsewhere");
    await say("Something");
    await page.getByText("Something", { exact: true }).waitFor();

    await page.getByRole("link", { name: "Overview", exact: true }).click();
    const now = page.getByRole("region", { name: "Now" });
    await now.getByText("answering").waitFor();
    await now.getByRole("button", { name: "Stop" }).click();

    await page.getByText("Nothing is running.").waitFor();
  });

  test("a long history is read in pages back to its beginning, and only a part of it is drawn", async () => {
    const key = "agent:main:long";
    await writeHistory(gateway, key, 1_000);
    tab = await takeTab(browser);
    const { page } = tab;
    await page.goto(`${gateway.url}/#token=${gateway.token}`);
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#/chat/${encodeURIComponent(key)}`,
    );
    await page.getByText("Answer 499", { exact: true }).waitFor();
    const view = page.locator(".transcript");
    const drawn = () => page.locator(".turn").count();

    await view.hover();
    await expect
      .poll(
        async () => {
          await page.mouse.wheel(0, -4_000);
          return page.getByText("Question 0", { exact: true }).count();
        },
        { timeout: 20_000 },
      )
      .toBe(1);

    expect(await drawn()).toBeLessThan(200);
    expect(await page.getByText("Earlier messages").count()).toBe(0);
    await page.getByRole("button", { name: "Latest" }).click();
    await page.getByText("Answer 499", { exact: true }).waitFor();
    expect(await drawn()).toBeLessThan(200);
  });

  test("the place one was reading is found again after a reload and after another session", async () => {
    const key = "agent:main:place";
    await writeHistory(gateway, key, 120);
    tab = await takeTab(browser);
    const { page } = tab;
    await page.goto(`${gateway.url}/#token=${gateway.token}`);
    await page.getByText("Connected", { exact: true }).waitFor();
    const visit = (address: string) =>
      page.evaluate((hash) => {
        location.hash = hash;
      }, address);
    await visit(`#/chat/${encodeURIComponent(key)}`);
    await page.getByText("Answer 59", { exact: true }).waitFor();
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -1_500);
    await page.getByRole("button", { name: "Latest" }).waitFor();
    // Turns near the view are drawn frame by frame, the one at its top, too.
    await expect.poll(() => firstVisible(page)).toMatch(/^Question (?!59).* -\d+$/);
    // Turns that are drawn last may still move it by a pixel or two.
    let place = "";
    await expect
      .poll(
        async () => {
          const before = place;
          place = await firstVisible(page);
          return place === before;
        },
        { interval: 400 },
      )
      .toBe(true);

    await visit("#/chat/agent%3Amain%3Aother");
    await page.getByText("What would you like to know?").waitFor();
    await page.goBack();
    await expect.poll(() => firstVisible(page)).toBe(place);
    await page.reload();

    await expect.poll(() => firstVisible(page)).toBe(place);
  });

  test("two tabs show the same", async () => {
    const page = await openChat(gateway.url, gateway.token, "agent:main:two-tabs");
    const other = await tab.context.newPage();
    await other.goto(`${gateway.url}/#token=${gateway.token}`);
    await other.getByText("Connected", { exact: true }).waitFor();
    await other.evaluate(() => {
      location.hash = "#/chat/agent%3Amain%3Atwo-tabs";
    });
    await other.getByText("What would you like to know?").waitFor();

    await write(page, "dictate to both");
    await say("Heard by both.", true);

    for (const one of [page, other]) {
      await one.locator(".answer .answer-actions").waitFor();
      expect(await one.locator(".bubble").allTextContents()).toEqual(["dictate to both"]);
      expect(await answerText(one)).toEqual(["Heard by both."]);
    }
  });
});

describe("signing in", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({ plugins });
  });
  afterAll(() => gateway?.close());

  test("a wrong token shows one focused field with the reason; the right one goes on", async () => {
    tab = await takeTab(browser);
    const { page } = tab;
    await page.goto(`${gateway.url}/#token=wrong`);
    await page.getByText("The gateway refused this token.").waitFor();
    expect(page.url()).not.toContain("wrong");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("secret");
    expect(await axeViolations(page)).toEqual([]);
    await tab.picture("sign-in-refused");
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain("wrong");

    await page.keyboard.type(gateway.token);
    await page.keyboard.press("Enter");

    await page.getByText("Connected", { exact: true }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test("without a token it asks for one, without blame", async () => {
    tab = await takeTab(browser);
    await tab.page.goto(gateway.url);
    await tab.page.getByRole("heading", { name: "Sign in to this gateway" }).waitFor();

    expect(await tab.page.getByRole("alert").count()).toBe(0);
    expect(await axeViolations(tab.page)).toEqual([]);
    await tab.picture("sign-in");
    expect(tab.problems).toEqual([]);
  });

  test("a password gateway asks for the password and keeps it in memory only", async () => {
    const own = await createTestGateway({ plugins, config: { gateway: { auth: { mode: "password", password: "pass-5150-word" } } } });
    tab = await takeTab(browser);
    const { page } = tab;
    await page.goto(own.url);
    await page.getByLabel("Gateway password").fill("pass-5150-word");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("Connected", { exact: true }).waitFor();

    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain("pass-5150-word");
    expect(tab.problems).toEqual([]);
    await tab.leave();
    await own.close();
  });

  test("refused storage is no obstacle", async () => {
    tab = await openTab(browser);
    await tab.page.addInitScript(() => {
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException("refused", "SecurityError");
          },
        });
      }
    });
    await tab.page.goto(`${gateway.url}/#token=${gateway.token}`);
    await tab.page.getByText("Connected", { exact: true }).waitFor();
    await tab.page.getByRole("textbox", { name: "Question" }).fill("hello");
    await tab.page.getByRole("button", { name: "Ask", exact: true }).click();
    await tab.page.locator(".answer .answer-actions").waitFor();

    expect(tab.problems).toEqual([]);
  });
});

describe("below a base path", () => {
  test("everything works the same", async () => {
    const gateway = await createTestGateway({ plugins, config: { gateway: { controlUi: { basePath: "/ui" } } } });
    tab = await takeTab(browser);
    await tab.page.goto(`${gateway.url}/ui#token=${gateway.token}`);
    await tab.page.getByText("Connected", { exact: true }).waitFor();

    expect(tab.page.url()).toBe(`${gateway.url}/ui/#/overview`);
    expect(tab.problems).toEqual([]);
    const config = await gateway.fetch("/ui/control-ui-config.json");
    expect(await config.json()).toMatchObject({ basePath: "/ui", assistantAgentId: "main", authMode: "token" });
    expect((await fetch(`${gateway.url}/ui/control-ui-config.json`)).status).toBe(401);
    expect((await gateway.fetch("/ui/__svc/control-ui-config.json", { method: "HEAD" })).status).toBe(200);
    expect((await fetch(`${gateway.url}/`, { headers: { accept: "text/html" } })).status).toBe(404);
    await tab.leave();
    await gateway.close();
  });

  test("switched off, nothing is served", async () => {
    const gateway = await createTestGateway({ plugins, config: { gateway: { controlUi: { enabled: false } } } });

    expect((await fetch(gateway.url, { headers: { accept: "text/html" } })).status).toBe(404);
    expect((await gateway.fetch("/control-ui-config.json")).status).toBe(404);
    await gateway.close();
  });
});

describe("when the gateway goes away", () => {
  let home: Home;
  let running: Running;
  const token = "kill-test-token-1c0a";
  beforeAll(async () => {
    home = await createHome();
    await mkdir(home.stateDir, { recursive: true });
    const config = { gateway: { mode: "local", auth: { token } }, plugins: { load: { paths: [mirror] } } };
    await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(config));
    running = await startGateway(home);
    // It listens before its plugins are there; until then the page is a 503.
    await eventually(async () => (await fetch(`${running.url}/readyz`)).ok);
  });
  afterAll(async () => {
    await running?.kill("SIGTERM");
    await home?.remove();
  });

  test("kill -9 while streaming: nothing typed or sent is lost, the question is there once and can be asked again", async () => {
    const page = await openChat(running.url, token, "agent:main:killed");
    await write(page, "dictate until killed");
    await page.getByText("Answering", { exact: false }).first().waitFor();
    const { port } = running;
    await running.kill("SIGKILL");

    await page.getByText("Next try in").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("typed while offline");
    expect(await page.getByRole("button", { name: "Send" }).getAttribute("aria-disabled")).toBe("true");
    await page.getByText("Not connected to the gateway. What you write is kept.").waitFor();
    expect(await page.locator(".bubble").allTextContents()).toEqual(["dictate until killed"]);
    await tab.picture("offline");
    running = await startGateway(home, ["--port", String(port)]);
    await page.getByText("Connected", { exact: true }).waitFor({ timeout: 90_000 });

    await page
      .getByText(/stopped during this (answer|run)/)
      .first()
      .waitFor();
    expect(await page.locator(".bubble").allTextContents()).toEqual(["dictate until killed"]);
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("typed while offline");
    await tab.picture("interrupted");
    await page.getByRole("textbox", { name: "Message" }).fill("");
    await write(page, "and now?");
    await page.locator(".answer .md", { hasText: "and now?" }).waitFor();
    expect(await page.locator(".bubble").allTextContents()).toEqual(["dictate until killed", "and now?"]);
    expect(tab.problems.filter((p) => !/WebSocket connection|ERR_CONNECTION_REFUSED|net::/.test(p))).toEqual([]);
  });

  test("a gateway that was stopped is not said to be restarting", async () => {
    const page = await openChat(running.url, token, "agent:main:stopped");
    await page.getByText("Connected", { exact: true }).waitFor();
    await running.kill("SIGTERM");
    await page.getByText("Next try in").waitFor();
    expect(await page.getByText("Restarting…").count()).toBe(0);
  });
});
