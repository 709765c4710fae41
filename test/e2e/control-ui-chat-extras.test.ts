import { readFile } from "node:fs/promises";
import type { Browser, Page, Response } from "playwright-core";
import { definePlugin, type ModelRequest, z } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, openTab, phone, type Tab } from "./_browser.ts";
import { enter, hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

/** A red dot of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const LIMIT = 12 * 1024;
const hostile = hostileTexts.join("\n");
const usage = { input: 1_200, output: 300, total: 1_500, cost: 0.02 };

function askedIn({ messages }: ModelRequest) {
  const last = messages.findLast((message) => message.role === "user");
  return last?.role === "user" ? last.content : [];
}
const textIn = (request: ModelRequest) => JSON.stringify(askedIn(request));

/** Answers by a word of the question. */
function script(request: ModelRequest) {
  const asked = textIn(request);
  if (asked.includes("fail please")) return { fault: "invalid_request" as const };
  if (asked.includes("cut off")) return { text: "Half an ", fault: "invalid_request" as const };
  if (asked.includes("search the notes")) {
    if (request.messages.at(-1)?.role !== "tool") return { toolCalls: [{ name: "memory_search", args: { query: "router" } }] };
    return { text: "In the hall.", usage };
  }
  if (request.messages.at(-1)?.role === "tool") return { text: `Looked up. ${hostileTexts[0]}`, usage };
  if (asked.includes("look it up")) return { reasoning: `Shall I? ${hostile}`, toolCalls: [{ name: "probe", args: { what: hostile } }] };
  return { text: asked.includes("image/") ? "A red dot." : "One answers.", usage };
}

const one = fakeModel(Array(60).fill(script), {
  id: "one",
  info: { contextWindow: 30_000, input: ["text", "image"], cost: { input: 10, output: 20 } },
});
const two = fakeModel(Array(20).fill({ text: "Two answers.", usage: { ...usage, output: 100, total: 1_300 } }), { id: "two" });
const ears = fakeModel(Array(5).fill({ text: "I heard it.", usage }), { id: "ears", info: { input: ["text", "audio"] } });
const probe = definePlugin({
  id: "probe-tool",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool({ name: "probe", description: hostile, input: z.object({ what: z.string() }), run: () => hostile.repeat(60) });
  },
});

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "approvals", "memory-core", "control-ui", probe],
    models: [one, two, ears],
    workspace: { "memory/house.md": "# House\n\nThe router stands in the hall.\n" },
    config: {
      agents: {
        defaults: { model: "one/script", skipBootstrap: true },
        list: [
          { id: "main", default: true },
          { id: "ops", name: "Operations" },
        ],
      },
    },
  });
  await gateway.rpc("memory.index", {});
  browser = await launchChromium(["--use-fake-device-for-media-stream"]);
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

const chat = (name: string) => `#/chat/${encodeURIComponent(`agent:main:${name}`)}`;
const field = (page: Page) => page.getByRole("textbox", { name: "Message" });
const bar = (page: Page) => page.getByRole("button", { name: /choose agent and model/ });

async function ask(page: Page, text: string): Promise<void> {
  const answers = page.locator(".answer .answer-actions");
  const before = await answers.count();
  await field(page).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  await answers.nth(before).waitFor();
}

let runs = 0;
/** Asks without a page; resolves when the run has ended. @returns its id */
async function asked(name: string, message: string): Promise<string> {
  const idempotencyKey = `run-${++runs}`;
  await gateway.rpc("chat.send", { sessionKey: `agent:main:${name}`, message, idempotencyKey });
  await gateway.rpc("agent.wait", { runId: idempotencyKey });
  return idempotencyKey;
}

/** Opens every fold, also those within others. */
async function openAll(page: Page): Promise<void> {
  const closed = page.locator("details:not([open]) > summary");
  while ((await closed.count()) > 0) await closed.first().click();
}

/** Puts a file into the clipboard and pastes it into the composer. */
async function paste(page: Page, file: { name: string; type: string; base64: string }): Promise<void> {
  await field(page).evaluate((element, { name, type, base64 }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], name, { type }));
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, file);
}

test("a chat loads little, and a pasted picture is seen, taken back or sent, and read by the model", async () => {
  tab = await openTab(browser);
  const { page } = tab;
  const seen: Response[] = [];
  page.on("response", (response) => seen.push(response));
  await enter(page, gateway, chat("picture"));
  await field(page).waitFor();
  await bar(page).waitFor();
  await page.waitForLoadState("networkidle");
  // The start of an empty conversation is no part of others.
  const own = seen.filter((response) => /\/views\/chat\/(?!start)/.test(response.url()));
  const bytes = await Promise.all(own.map(async (response) => (await response.request().sizes()).responseBodySize));
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT);
  expect(
    own.map((response) => response.url().replace(/.*\//, "")).filter((name) => /tray|picker|menu|completion|trouble|parts|file/.test(name)),
  ).toEqual([]);

  await paste(page, { name: "dot.png", type: "image/png", base64: PNG });
  const tray = page.getByRole("list", { name: "Attached" });
  await tray.getByText("dot.png").waitFor();
  expect(await tray.locator("img").evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1);
  await paste(page, { name: `${hostileTexts[0]}.exe`, type: "application/x-msdownload", base64: PNG });
  await page.getByRole("alert").getByText("Pictures, PDF documents, text files and recordings can be attached.").waitFor();
  await tab.picture("chat-attached-desktop");
  await tray.getByRole("button", { name: "Remove dot.png" }).click();
  await tray.waitFor({ state: "detached" });
  await paste(page, { name: "dot.png", type: "image/png", base64: PNG });
  await tray.waitFor();
  await ask(page, "What is this?");

  expect(askedIn(one.requests.at(-1) as ModelRequest)).toContainEqual({ type: "image", mimeType: "image/png", data: PNG });
  await page.locator(".md").getByText("A red dot.").waitFor();
  const picture = page.locator(".bubble img.picture");
  expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1);
  expect(await tray.count()).toBe(0);
});

test("files that are chosen go along, and a recording does not where the model takes no audio", async () => {
  const page = await visit(chat("files"));
  await page.locator('input[type="file"]').setInputFiles([
    { name: "note.md", mimeType: "", buffer: Buffer.from(`# A note\n${hostile}`) },
    { name: "voice.wav", mimeType: "audio/wav", buffer: Buffer.from("RIFF0000WAVE") },
  ]);
  await page.getByText("voice.wav is a recording, and the model of this conversation takes no audio.").waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".answer .answer-actions").waitFor();

  expect(textIn(one.requests.at(-1) as ModelRequest)).toContain("# A note");
  const part = page.locator(".bubble details");
  await part.locator("summary").click();
  await part.getByText("# A note").waitFor();
  expect(await markupOf(page)).toEqual([]);
});

describe("who answers", () => {
  test("is chosen for one conversation, taken back by a command that is completed by keyboard, and the context is told", async () => {
    const page = await visit(chat("models"));
    await bar(page).click();
    const dialog = page.getByRole("dialog", { name: "Who answers here" });
    await dialog.getByRole("button", { name: /two\/script/ }).waitFor();
    await tab.picture("chat-picker-desktop");
    await dialog.getByRole("button", { name: /two\/script/ }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^main, two\/script:/ }).waitFor();
    await ask(page, "Who are you?");
    await page.locator(".md").getByText("Two answers.").waitFor();
    await page.getByText("1,300 tokens; the model does not say how many it reads").waitFor({ state: "attached" });

    await field(page).fill("");
    await page.keyboard.type("/m");
    const list = page.getByRole("listbox", { name: "Commands" });
    await list.getByRole("option", { name: /^\/model/ }).waitFor();
    await tab.picture("chat-commands-desktop");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    expect(await field(page).getAttribute("aria-activedescendant")).toBe("command-0");
    await page.keyboard.press("Tab");
    expect(await field(page).inputValue()).toBe("/model ");
    await page.keyboard.type("default");
    await list.waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.locator(".md").getByText("The model is the agent's own again.").waitFor();
    await page.getByRole("button", { name: /^main, one\/script:/ }).waitFor();
    await ask(page, "And now?");
    await page.getByText("1,500 of 30,000 tokens in the last request and its answer").waitFor({ state: "attached" });
    expect(await page.getByRole("progressbar", { name: "Context used" }).getAttribute("value")).toBe("5");
    await bar(page).click();
    await dialog.getByRole("button", { name: /two\/script/ }).click();
    await page.getByRole("button", { name: /^main, two\/script:/ }).waitFor();
  });

  test("as another agent begins another conversation, with what was typed", async () => {
    const page = await visit(chat("agents"));
    await field(page).fill("half a thought");
    await bar(page).click();
    await page.getByRole("button", { name: /Operations/ }).click();
    await page.getByRole("button", { name: /^ops, / }).waitFor();
    expect(decodeURIComponent(page.url())).toMatch(/#\/chat\/agent:ops:chat-/);
    expect(await field(page).inputValue()).toBe("half a thought");
  });

  test("is not changed by a sign-in that may only read", async () => {
    tab = await visitChanged(browser, gateway, chat("models"), without("admin|write"));
    await bar(tab.page).click();
    const option = tab.page.getByRole("dialog").getByRole("button", { name: /two\/script/ });
    await option.waitFor();
    expect(await option.getAttribute("aria-disabled")).toBe("true");
  });
});

test("a failed run says why, also after a reload, and a question can be asked again or edited", async () => {
  const page = await visit(chat("failures"));
  await field(page).fill("fail please");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".note.bad").getByText("the script fails turn").waitFor();
  await page.reload();
  await page
    .locator(".note.bad")
    .getByText(/^The run failed: .*the script fails turn/)
    .waitFor();
  await tab.picture("chat-failed-desktop");
  await page.locator(".note.bad").getByRole("button", { name: "Edit" }).click();
  await expect.poll(() => field(page).inputValue()).toBe("fail please");
  await ask(page, "cut off");
  await page.reload();
  await page.getByText("The answer was interrupted here").waitFor();
  await expect
    .poll(() =>
      page
        .locator(".note.bad")
        .getByText(/^The run failed: .*the script fails turn/)
        .count(),
    )
    .toBe(2);

  await ask(page, "a good one");
  const last = page.locator(".turn").last();
  await last.getByRole("button", { name: "More about this answer" }).click();
  await page.getByRole("menuitem", { name: "Edit and ask again" }).click();
  await expect.poll(() => field(page).inputValue()).toBe("a good one");
  await page.getByText("What you send begins a branch; this answer stays in the other one.").waitFor();
});

test("a message whose files were lost with a reload is not sent without them", async () => {
  const page = await visit(chat("lost"));
  await page.evaluate(() => {
    const files = [{ kind: "image", name: "dot.png", type: "image/png" }];
    const entry = { key: "lost-1", sessionKey: "agent:main:lost", text: "What is this?", at: Date.now(), state: "sending", files };
    localStorage.setItem("svc:/:out:lost-1", JSON.stringify(entry));
  });
  await page.reload();
  await page.getByText(/^Not sent\. The page was reloaded before its files had left\./).waitFor();
  expect(await page.getByRole("button", { name: "Retry" }).getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await expect.poll(() => field(page).inputValue()).toBe("What is this?");
  const { messages } = await gateway.rpc<{ messages: unknown[] }>("chat.history", { sessionKey: "agent:main:lost" });
  expect(messages).toEqual([]);
});

test("a request for approval is answered in the conversation that it is about", async () => {
  const page = await visit(chat("approval"));
  await field(page).waitFor();
  const decided = gateway.rpc("exec.approval.request", {
    command: `ls ${hostileTexts[0]}`,
    agentId: "main",
    sessionKey: "agent:main:approval",
  });
  const card = page.locator(".transcript .approval");
  await card.getByText("ls <img").waitFor();
  await tab.picture("chat-approval-desktop");
  await card.getByRole("button", { name: "Allow once" }).click();
  expect(await decided).toMatchObject({ decision: "allow-once" });
  await card.waitFor({ state: "detached" });
});

test("a conversation is exported as Markdown and as JSON, made in the page", async () => {
  await asked("export", "look it up");
  const page = await visit(chat("export"));
  const download = async (name: string) => {
    await page.getByRole("button", { name: "More about this conversation" }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name }).click()]);
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
  };

  const markdown = await download("Export as Markdown");
  expect(markdown.name).toMatch(/^look-it-up \d{4}-\d\d-\d\d\.md$/);
  expect(markdown.text).toContain("### Call of probe\n\n```json\n");
  expect(markdown.text).toContain(`Looked up. ${hostileTexts[0]}`);
  const json = JSON.parse((await download("Export as JSON")).text) as { messages: unknown[]; session: object };
  const { messages } = await gateway.rpc<{ messages: unknown[] }>("chat.history", { sessionKey: "agent:main:export", maxChars: 1_000_000 });
  expect(json.messages).toEqual(messages);
  expect(json.session).toMatchObject({ key: "agent:main:export" });
});

describe("why an answer was given", () => {
  test("is shown from the answer's menu by keyboard, with prompt, tools and cost, and nothing in it is taken for markup", async () => {
    await asked("why", "look it up");
    const page = await visit(chat("why"));
    await page.locator("details.reasoning summary").click();
    await page.locator("details.reasoning pre").getByText("Shall I?").waitFor();
    await page.getByRole("button", { name: "More about this answer" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Why did it say that" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("More about this answer");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Why did it say that" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Why did it say that" }).waitFor();
    await page.getByText(/^one\/script answered in .*: 2 requests, 1 tool call, 1,500 tokens, \$0\.02\.$/).waitFor();

    for (const name of ["Instructions", "Tools on offer"]) await page.locator("summary", { hasText: name }).click();
    const tool = page.locator("section", { has: page.getByRole("heading", { name: "Tools", exact: true }) }).locator("details");
    await tool.locator("summary").click();
    const result = tool.getByRole("group", { name: "Result of probe" });
    expect((await result.innerText()).length).toBeLessThan(4_200);
    await tool.getByRole("button", { name: "Show all" }).click();
    expect((await result.innerText()).length).toBeGreaterThan(8_000);
    await page.getByRole("button", { name: "Turn 1" }).click();
    await page.locator("summary", { hasText: "User" }).last().click();
    await page.getByRole("group", { name: "Message of User" }).getByText("look it up").waitFor();
    await openAll(page);
    expect(await markupOf(page)).toEqual([]);
    await tab.picture("explain-open-desktop");
    await page.getByRole("link", { name: "Back to the conversation" }).click();
    await page.locator(".turn.shown").waitFor();
  });

  test("names the sources that were found, with their scores, and each opens with its lines marked", async () => {
    const page = await visit(`#/explain/${await asked("sources", "search the notes")}`);
    const source = page.locator(".scored li").first();
    await source.getByText("house.md:").waitFor();
    expect(Number(await source.getByRole("meter", { name: "Score" }).getAttribute("value"))).toBeGreaterThan(0);
    await tab.picture("explain-sources-desktop");
    await source.getByRole("link").click();
    await page.locator("mark", { hasText: "The router stands in the hall." }).waitFor();
  });

  test("is compared with what another model says to the same, answers side by side", async () => {
    const page = await visit(`#/explain/${await asked("replay", "Who answers?")}`);
    const before = two.requests.length;
    const model = page.getByRole("combobox", { name: "Model" });
    await model.waitFor();
    expect(await model.inputValue()).toBe("two/script");
    await tab.picture("explain-desktop");
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("The answers differ.").waitFor();
    expect(two.requests.length).toBe(before + 1);
    expect(await page.getByRole("group", { name: "Answer of the run" }).innerText()).toBe("One answers.");
    expect(await page.getByRole("group", { name: "Answer of the replay" }).innerText()).toBe("Two answers.");
    const row = page.getByRole("row", { name: /^All tokens/ });
    expect(await row.getByRole("cell").allInnerTexts()).toEqual(["1,500", "1,300", "−200 (−13 %)"]);
    await tab.picture("explain-replay-desktop");
  });

  test("and of a run that nobody knows is told in a sentence", async () => {
    const page = await visit("#/explain/nobody");
    await page.getByText("no run with this id is known").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing in them, light and dark, in one column: %s", async (name, options) => {
  const runId = await asked(`axe-${name}`, "look it up");
  const page = await visit(chat(`axe-${name}`), options);
  await page.locator(".answer .answer-actions").first().waitFor();
  await page.locator('input[type="file"]').setInputFiles([{ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") }]);
  await page.getByRole("list", { name: "Attached" }).waitFor();
  await field(page).fill("/");
  await page.getByRole("option").first().waitFor();
  await page.locator("details.reasoning summary").click();
  const states: Array<[string, () => Promise<unknown>]> = [
    ["chat", async () => undefined],
    ["menu", () => page.getByRole("button", { name: "More about this answer" }).last().click()],
    [
      "picker",
      async () => {
        await page.keyboard.press("Escape");
        await bar(page).click();
        await page
          .getByRole("dialog")
          .getByRole("button", { name: /two\/script/ })
          .waitFor();
      },
    ],
    [
      "explain",
      async () => {
        await page.keyboard.press("Escape");
        await page.evaluate((hash) => {
          location.hash = hash;
        }, `#/explain/${runId}`);
        await page.getByRole("button", { name: "Replay" }).click();
        await page.getByText("The answers differ.").waitFor();
        await openAll(page);
      },
    ],
  ];
  for (const [state, open] of states) {
    await open();
    expect(await axeViolationsInBothSchemes(page), state).toEqual([]);
    expect(await isOneColumn(page), state).toBe(true);
    await tab.picture(`chat-extras-${state}-${name.replace(/ /g, "-")}`);
  }
});

describe("a voice note", () => {
  const start = (page: Page) => page.getByRole("button", { name: "Record a voice note" });
  const controls = (page: Page) => page.getByRole("group", { name: "Voice note" });
  const said = (page: Page, words: string) => page.getByRole("status").getByText(words).waitFor();
  const tray = (page: Page) => page.getByRole("list", { name: "Attached" });

  test("is recorded where the model takes audio, goes along, and is thrown away on wish; what stands in the way is said", async () => {
    for (const name of ["voice", "voice-large"]) await gateway.rpc("sessions.create", { key: `agent:main:${name}`, model: "ears/script" });
    const page = await visit(chat("no-voice"));
    await bar(page).waitFor();
    expect(await start(page).count()).toBe(0);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, chat("voice"));
    await start(page).click();
    await said(page, "The browser does not let this page use the microphone.");
    await tab.context.grantPermissions(["microphone"]);
    await start(page).click();
    await controls(page).getByText("0:01").waitFor();
    await tab.picture("chat-recording-desktop");
    expect(await axeViolationsInBothSchemes(page)).toEqual([]);
    await controls(page).getByRole("button", { name: "Discard" }).click();
    await controls(page).waitFor({ state: "detached" });
    expect(await tray(page).count()).toBe(0);

    await start(page).click();
    await controls(page).getByText("0:01").waitFor();
    await controls(page).getByRole("button", { name: "Stop and attach" }).click();
    await tray(page)
      .getByText(/^Voice note .*\.webm$/)
      .waitFor();
    await ask(page, "What did I say?");
    expect(askedIn(ears.requests.at(-1) as ModelRequest)).toContainEqual(expect.objectContaining({ mimeType: "audio/webm" }));

    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotFoundError"));
    });
    await start(page).click();
    await said(page, "No microphone was found.");
  });

  test("that is as large as it may be ends by itself, and one is kept when its conversation is left", async () => {
    tab = await visitChanged(browser, gateway, chat("voice-large"), (text) =>
      text.includes('"hello-ok"') ? text.replace(/(?<="attachments":\{"maxBytes":)\d+/, "20000") : text,
    );
    const { page } = tab;
    await tab.context.grantPermissions(["microphone"]);
    await start(page).click();
    await said(page, "The recording ended there and is attached.");
    await tray(page)
      .getByText(/^Voice note /)
      .waitFor();
    await tray(page)
      .getByRole("button", { name: /^Remove/ })
      .click();
    await start(page).click();
    await controls(page).getByText("0:01").waitFor();
    await page.evaluate("location.hash = '#/overview'");
    await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    await page.goBack();
    await tray(page)
      .getByText(/^Voice note /)
      .waitFor();
  });
});
