import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { okText } from "../fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab } from "./_browser.ts";
import { failing, hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

const WRONG_KEY = "sk-wrong-aaaaaaaaaaaaaaaa";

let vendor: FakeOpenAi;
let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  vendor = await startFakeOpenAi({ models: ["ok", "tool", "text-embedding-3", ...hostileTexts] });
  const plugins = [
    "store",
    "agents",
    "operator",
    "devices",
    "usage",
    "memory-core",
    "model-recall",
    "model-openai-compatible",
    "control-ui",
  ];
  gateway = await createTestGateway({ plugins, config: config() });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
  await vendor?.close();
});
afterEach(async () => {
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

function config(
  change: { providers?: NonNullable<SvcConfigInput["models"]>["providers"]; model?: { primary: string; fallbacks?: string[] } } = {},
): SvcConfigInput {
  const { providers = {}, model } = change;
  return {
    models: { providers },
    agents: {
      defaults: { skipBootstrap: true, memorySearch: { provider: "none" }, ...(model ? { model } : {}) },
      list: [{ id: "main", default: true }, ...(model ? [{ id: "helper", model: "lab/tool" }] : [])],
    },
  };
}

/** A server with two models of which something is known, and answers by the first that does not rest. */
async function withLab(models = ["ok", "tool"], change: object = {}): Promise<void> {
  const about = { contextWindow: 128_000, reasoning: true, input: ["text", "image", "audio"] as Array<"text" | "image" | "audio"> };
  const lab = { baseUrl: vendor.url, apiKey: vendor.apiKey, models: models.map((id) => ({ id, ...about })), ...change };
  const [primary = "", ...fallbacks] = models.map((id) => `lab/${id}`);
  await gateway.reload(config({ providers: { lab }, model: { primary, fallbacks } }));
}

async function visit(address: string, options: Parameters<typeof visitView>[3] = desktop): Promise<Page> {
  tab = await visitView(browser, gateway, address, options);
  return tab.page;
}

const ask = async (text: string) => {
  const { runId } = await gateway.rpc<{ runId: string }>("chat.send", {
    sessionKey: "agent:main:main",
    message: text,
    idempotencyKey: text,
  });
  await gateway.rpc("agent.wait", { runId });
};
const row = (page: Page, name: string) => page.locator(".foldable").filter({ hasText: name });
const go = (page: Page, address: string) =>
  page.evaluate((hash) => {
    location.hash = hash;
  }, address);
const entry = async (id: string) => {
  const { models } = JSON.parse(await readFile(join(gateway.stateDir, "svc.json"), "utf8")) as {
    models: { providers: Record<string, { apiKey?: string }> };
  };
  return models.providers[id];
};

/** Everything of the page that could hold a text. */
const everything = (page: Page) =>
  page.evaluate(() => {
    const fields = [...document.querySelectorAll<HTMLInputElement>("input, textarea, select")].map(({ value }) => value);
    return JSON.stringify([
      document.documentElement.outerHTML,
      fields,
      location.href,
      { ...localStorage },
      { ...sessionStorage },
      history.state,
    ]);
  });

describe("the first run", () => {
  test("adds a model by its address and key, says why a wrong key does not do, and answers the first question", async () => {
    await gateway.reload(config());
    const page = await visit("#/overview");
    await page.getByRole("textbox", { name: "Question" }).fill("Where is the router?");
    await page.getByText(/Put notes as Markdown files into .*\/workspace\/memory, such as router\.md/).waitFor();
    await tab.picture("first-run-overview-desktop");
    await page.getByRole("button", { name: "Add a model" }).click();
    const form = page.locator(".first-run");
    await form.getByRole("button", { name: "Add and test" }).click();
    await form.getByRole("alert").getByText("The key is missing.").waitFor();
    await form.getByRole("button", { name: "An address of your own" }).click();
    await form.getByLabel("Name here").fill("lab");
    await form.getByLabel("Address").fill(vendor.url);
    await form.getByLabel("Key").fill(WRONG_KEY);
    await form.getByRole("textbox", { name: "Model" }).fill("ok");
    await tab.picture("first-run-form-desktop");
    await form.getByRole("button", { name: "Add and test" }).click();
    await form
      .getByRole("alert")
      .getByText(/^No answer \(auth, /)
      .waitFor();
    await form.getByText("The vendor does not take this key.", { exact: false }).waitFor();
    await page
      .locator(".part")
      .filter({ hasText: "lab/ok" })
      .getByText(/its key was rejected/)
      .waitFor();
    await tab.picture("first-run-wrong-key-desktop");
    expect(await entry("lab")).toMatchObject({ apiKey: WRONG_KEY });
    expect(await everything(page)).not.toContain(WRONG_KEY);

    await form.getByLabel("Key").fill(vendor.apiKey);
    await form.getByRole("button", { name: "Test again" }).click();
    const done = page.getByRole("region", { name: "lab/ok answers" });
    await done.getByText(/^Answered in .*: “The router stands in the hall cupboard\.”$/).waitFor();
    expect(vendor.requests.at(-1)?.headers.authorization).toBe(`Bearer ${vendor.apiKey}`);
    expect(await entry("lab")).toMatchObject({ apiKey: vendor.apiKey, baseUrl: vendor.url });
    expect(await everything(page)).not.toContain(vendor.apiKey);
    await page.locator(".part").filter({ hasText: "lab/ok" }).waitFor();
    await tab.picture("first-run-done-desktop");

    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.locator(".answer", { hasText: okText }).waitFor();
    expect(await everything(page)).not.toContain(vendor.apiKey);
    await go(page, "#/overview");
    await page.getByRole("textbox", { name: "Question" }).waitFor();
    expect(await page.getByText("No language model yet").count()).toBe(0);
  });

  test("is offered in an empty chat too, keeps what was typed but for the key over a reload, and leaves nothing behind when it is undone", async () => {
    await gateway.reload(config({ providers: { acme: { apiKey: "k" } } }));
    const page = await visit("#/chat/agent%3Amain%3Afirst", phone);
    await page.getByText("There are no notes yet.", { exact: false }).waitFor();
    await page.getByText(/acme: no active plugin knows an address for it/).waitFor();
    await page.getByRole("button", { name: "Add a model" }).click();
    await page.getByRole("button", { name: "An address of your own" }).click();
    await page.getByLabel("Name here").fill("acme");
    await page.getByLabel("Address").fill(vendor.url);
    await page.getByLabel("Key").fill(WRONG_KEY);
    await tab.picture("first-run-chat-phone");
    expect(await isOneColumn(page)).toBe(true);
    await page.reload();
    await page.getByLabel("Name here").waitFor();
    expect([await page.getByLabel("Name here").inputValue(), await page.getByLabel("Key").inputValue()]).toEqual(["acme", ""]);
    await page.getByRole("button", { name: "Add and test" }).click();
    await page.getByText("“acme” is set up already.", { exact: false }).waitFor();
    await page.getByLabel("Name here").fill("lab");
    await page.getByLabel("Key").fill(WRONG_KEY);
    await page.getByRole("button", { name: "Add and test" }).click();
    await page
      .getByRole("alert")
      .getByText(/“lab” offers no model: .*rejected the key/)
      .waitFor();
    await page.getByRole("button", { name: "Remove it again" }).click();
    await page.getByRole("button", { name: "Add and test" }).waitFor();
    expect(await entry("lab")).toBeUndefined();
    expect(await page.getByLabel("Address").inputValue()).toBe(vendor.url);
    await page.getByRole("button", { name: "Cancel" }).click();
  });
});

describe("the models", () => {
  test("show who is answered by what, what each can and what it has used; one is tested and made the default", async () => {
    await withLab();
    await ask("What is there?");
    const page = await visit("#/models");
    await page.getByText("1 provider. main is answered by lab/ok.").waitFor();
    const answering = page.getByRole("region", { name: "Models in use" });
    expect((await answering.locator("li.answering").allInnerTexts()).slice(0, 2).map((text) => text.split(/\s*\n\s*/))).toEqual([
      expect.arrayContaining(["main", "primary", "lab/ok", "ready", "fallback 1", "lab/tool", "Set by agents.defaults.model."]),
      expect.arrayContaining(["helper", "lab/tool"]),
    ]);
    const models = page.getByRole("list", { name: "Models of lab" });
    const ok = models.getByRole("listitem").filter({ hasText: "128k context" }).first();
    await ok.getByText("vision").waitFor();
    expect(await ok.innerText()).toMatch(/ok\s+default\s+128k context\s+vision\s+audio\s+reasoning\s+\d+ runs?, [\d,]+ tokens, no price/);
    await ok.getByRole("button", { name: "Test ok" }).click();
    await row(page, "key from models.providers.lab.apiKey")
      .getByText(/Answered in .*12 tokens in, 7 out/)
      .waitFor();
    await tab.picture("models-desktop");

    await models.getByRole("button", { name: "Make default: tool" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/in the place of lab\/ok/).waitFor();
    await dialog.getByRole("button", { name: "Make it the default" }).click();
    await page.getByText("lab/tool answers by default now. helper keeps a model of their own.").waitFor();
    await page.getByText("1 provider. main is answered by lab/tool.").waitFor();
    await gateway.rpc("models.set", { model: "lab/ok" });
    await page.getByText("1 provider. main is answered by lab/ok.").waitFor();
    await page.getByRole("link", { name: "Usage by model" }).click();
    await page.getByRole("row", { name: /lab\/ok/ }).waitFor();
  });

  test("in cooldown say why and for how long, in every place, as soon as it begins and until it is over", async () => {
    await withLab(["gone", "ok"]);
    const page = await visit("#/models");
    const first = page.locator(".chain li").first();
    await first.getByText("ready").waitFor();
    await ask("Does it rest?");
    await first.getByText("in cooldown").waitFor();
    await page.getByText("1 provider. main is answered by lab/ok (lab/gone: in cooldown).").waitFor();
    await page.getByRole("list", { name: "Models of lab" }).getByText("in cooldown").waitFor();
    expect(await first.innerText()).toMatch(/The model 'gone' does not exist\. Tried again in \d+ s\./);
    await tab.picture("models-cooldown-desktop");
    await go(page, "#/overview");
    const part = page.locator(".part").filter({ hasText: "lab/gone" });
    await part.getByText(/it is in cooldown: .*does not exist/).waitFor();
    await part.getByText(/It is tried again in \d+ s\./).waitFor();
    await go(page, "#/chat/agent%3Amain%3Amain");
    const notice = page.locator(".conversation > .notice");
    await notice.getByText(/lab\/gone is in cooldown: .*lab\/ok answers meanwhile\./).waitFor();
    await tab.picture("chat-cooldown-desktop");
    // A provider with other settings begins anew, and nothing reloads the page.
    await withLab(["gone", "ok"], { timeoutSeconds: 77 });
    await notice.waitFor({ state: "detached" });
  });

  test("of a provider get another key, which is tested, and go with it, with the loss named", async () => {
    await withLab();
    const page = await visit("#/models");
    const dialog = page.getByRole("dialog");
    await row(page, "lab").getByRole("button", { name: "Replace key of lab" }).click();
    await dialog.getByLabel("Key").fill(WRONG_KEY);
    await dialog.getByRole("button", { name: "Save and test" }).click();
    await row(page, "lab")
      .getByRole("alert")
      .getByText(/No answer \(auth/)
      .waitFor();
    expect(await entry("lab")).toMatchObject({ apiKey: WRONG_KEY });
    expect(await everything(page)).not.toContain(WRONG_KEY);
    await row(page, "lab").getByRole("button", { name: "Remove lab" }).click();
    await dialog.getByText(/Answered by it: main, helper\./).waitFor();
    await tab.picture("models-remove-desktop");
    await page.keyboard.press("Escape");
    expect(await entry("lab")).toBeDefined();
    await row(page, "lab").getByRole("button", { name: "Remove lab" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "No provider yet" }).waitFor();
    expect(await entry("lab")).toBeUndefined();
    // Nothing names a model that is gone, so there is an answer.
    await ask("And now?");
    await page.getByText("0 providers. No language model answers: main quotes its notes.").waitFor();
    await tab.picture("models-empty-desktop");
  });

  test("whose names are hostile stay texts, and many are found by a word", async () => {
    await gateway.reload(config({ providers: { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey } } }));
    const page = await visit("#/models");
    await page.getByRole("listitem").filter({ hasText: "onerror" }).first().waitFor();
    expect(await markupOf(page)).toEqual([]);
    await page.getByRole("button", { name: /^Make default: .*onerror/ }).click();
    await page.getByRole("dialog").waitFor();
    expect(await page.evaluate(() => document.querySelectorAll("dialog :is(img, script)").length)).toBe(0);
    await page.keyboard.press("Escape");
  });
});

describe("a sign-in that may do less", () => {
  test("who may only read sees all of it, no key, and why buttons do nothing", async () => {
    await withLab();
    tab = await visitChanged(browser, gateway, "#/models?add=1", without("admin|write"));
    const reason = "This sign-in is not an administrator's";
    for (const name of ["Add a provider", "Remove lab", "Replace key of lab"]) {
      const button = tab.page.getByRole("button", { name });
      await button.waitFor();
      expect([await button.getAttribute("aria-disabled"), await button.getAttribute("title")]).toEqual(["true", reason]);
    }
    expect(await tab.page.getByRole("button", { name: "Test lab" }).getAttribute("title")).toBe("This sign-in may only read");
    expect(await tab.page.getByRole("dialog").count()).toBe(0);
    expect(await everything(tab.page)).not.toContain(vendor.apiKey);
  });

  test("who may see none reads one line; another failure names itself and can be tried again", async () => {
    let error: { code: string; message: string } | undefined = { code: "FORBIDDEN", message: "missing scope: operator.read" };
    tab = await visitChanged(
      browser,
      gateway,
      "#/models",
      failing("skipped", () => error),
    );
    await tab.page.getByText("This sign-in is not allowed to see models.").waitFor();
    error = { code: "INVALID_REQUEST", message: "the rows are away" };
    await tab.page.reload();
    await tab.page.getByRole("alert").getByText("the rows are away").waitFor();
    error = undefined;
    await tab.page.getByRole("button", { name: "Retry" }).click();
    await tab.page.getByRole("heading", { name: "Models in use" }).waitFor();
  });
});

test("by keyboard: to the models with two letters, into the form by the palette, and back to where it was", async () => {
  await withLab();
  const page = await visit("#/overview");
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.getByRole("heading", { name: "Models in use" }).waitFor();
  const add = page.getByRole("button", { name: "Add a provider" });
  await add.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await eventually(() => page.evaluate(() => document.activeElement?.textContent === "Add a provider"));
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("provider");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Add a provider" }).waitFor();
  await page.getByRole("button", { name: "On this machine" }).click();
  await page.getByRole("combobox", { name: "What runs there" }).selectOption("local");
  await page.getByRole("button", { name: "Add and test" }).click();
  await page.getByText("A path on the gateway's machine, or hf:owner/repo/file.gguf.").waitFor();
  await page.keyboard.press("Escape");
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing in the view, its form and the first run, light and dark, in one column: %s", async (name, options) => {
  await withLab();
  const page = await visit("#/models", options);
  await page.getByRole("button", { name: "Test ok" }).waitFor();
  const place = name.replace(/ /g, "-");
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture(`models-${place}`);
  await page.emulateMedia({ colorScheme: "dark" });
  await tab.picture(`models-${place}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Add a provider" }).click();
  await page.getByRole("dialog").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`models-form-${place}`);
  await page.keyboard.press("Escape");
  await gateway.reload(config());
  await go(page, "#/overview");
  await page.getByRole("button", { name: "Add a model" }).click();
  await page.getByRole("button", { name: "Add and test" }).waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture(`first-run-${place}`);
});
