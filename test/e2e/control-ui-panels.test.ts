import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { get as httpGet } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Browser, Page } from "playwright-core";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, phone, type Tab } from "./_browser.ts";
import { expectUnharmed, hostileTexts, isOneColumn, markupOf, visitChanged, visitView, without } from "./_ui.ts";

const { describe, test } = needs("chromium");

const hello = join(import.meta.dirname, "../../examples/plugin-hello");
const hostile = hostileTexts.join(" ");

let folder: string;
let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-ui-panels-"));
  const strange = await strangePlugin(join(folder, "strange"));
  const script = Array(6).fill((request: { messages: Array<{ role: string }> }) =>
    request.messages.at(-1)?.role === "tool" ? "The bulb is on." : { toolCalls: [{ name: "look", args: {} }] },
  );
  gateway = await createTestGateway({
    plugins: ["store", "agents", "messaging", "operator", "control-ui", hello, strange],
    models: [fakeModel(script)],
    config: { plugins: { entries: { hello: { enabled: true }, strange: { enabled: true } } } },
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

/** A plugin with a panel at every place, each text of it hostile, and with a frame that tries whatever it should not be able to do. */
async function strangePlugin(path: string): Promise<string> {
  await mkdir(join(path, "panel"), { recursive: true });
  const manifest = {
    ...{ id: "strange", version: "1.0.0", svc: { api: "^1.0.0" }, name: "Strange" },
    contributes: { rpc: ["strange.set", "strange.fail", "strange.report", "strange.reports"], tools: ["look"] },
  };
  await writeFile(join(path, "svc.plugin.json"), JSON.stringify(manifest));
  await writeFile(join(path, "index.ts"), strangeCode);
  await writeFile(join(path, "panel/index.html"), '<!doctype html><title>x</title><p id="p">evil</p><script src="main.js"></script>');
  await writeFile(join(path, "panel/main.js"), `(${evil.toString()})();`);
  await writeFile(join(path, "panel/silent.html"), "<!doctype html><title>x</title><p>It never says a word.</p>");
  return path;
}

const strangeCode = `
import { definePlugin, z } from "svc/sdk";
const text = ${JSON.stringify(hostile)};
export default definePlugin({ id: "strange", version: "1.0.0", svc: { api: "^1.0.0" }, setup(ctx) {
  let isBroken = false;
  const reports = [];
  const add = (method, scope, handler) => ctx.registerRpc({ method, scope, params: z.record(z.string(), z.unknown()), handler });
  add("strange.set", "write", (params) => { isBroken = params.broken === true; return { ok: true, params }; });
  add("strange.fail", "read", () => { throw new Error(text); });
  add("strange.report", "read", (params) => { reports.push(params); return {}; });
  add("strange.reports", "read", () => reports.splice(0));
  ctx.registerTool({ name: "look", description: "Looks.", input: z.object({}), run: () => "on" });
  const blocks = () => [
    { kind: "status", label: text, value: text, level: "warning" },
    { kind: "keyValue", rows: [{ key: text.slice(0, 199), value: text }] },
    { kind: "table", columns: [text.slice(0, 199), "b"], rows: [[text, text]] },
    { kind: "markdown", text: "## " + text + "\\n\\n" + text + " **strong**" },
    { kind: "form", method: "strange.set", submit: "Set it", fields: [
      { name: "text", label: "Text " + text.slice(0, 150), type: "text", value: text }, { name: "level", label: "Level", type: "number" },
      { name: "on", label: "On", type: "boolean", value: true }, { name: "colour", label: "Colour", type: "select", options: [text, "red"] } ] },
    { kind: "command", label: "Fail " + text.slice(0, 150), method: "strange.fail" },
  ];
  const panel = (id, surface, load) => ctx.registerUiPanel({ id, label: id + " " + text.slice(0, 60), surface, icon: "chart", kind: "data", load });
  panel("all", "tab", async () => {
    if (isBroken) throw new Error("no bulb " + text);
    return { title: "All " + text.slice(0, 150), blocks: blocks() };
  });
  panel("wild", "tab", async () => ({ title: "x", blocks: [{ kind: "html", html: "<b>" }] }));
  for (const surface of ["settings", "session", "tool", "run"])
    panel("at-" + surface, surface, async ({ subject }) => ({ title: "At " + surface, blocks: [
      { kind: "keyValue", rows: Object.entries(subject).map(([key, value]) => ({ key, value })) }, { kind: "markdown", text } ] }));
  const methods = ["strange.report", "strange.set", "health"];
  ctx.registerUiPanel({ id: "evil", label: "Evil", surface: "tab", kind: "frame", methods });
  ctx.registerUiPanel({ id: "silent", label: "Silent", surface: "tab", kind: "frame", src: "silent.html" });
} });
`;

/** Script of the frame; it runs there and reports what it could do. */
function evil(): void {
  type Answer = { ok: boolean; error?: { code: string; retryAfterMs?: number } };
  const found: Record<string, unknown> = {};
  const attempt = (name: string, act: () => unknown) => {
    try {
      found[name] = `did: ${String(act())}`;
    } catch (error) {
      found[name] = `refused: ${(error as Error).name}`;
    }
  };
  attempt("parent", () => parent.document.title);
  attempt("parentFunction", () => (parent as unknown as { pwn(): void }).pwn());
  attempt("top", () => {
    (top as Window).location.href = "/healthz";
  });
  attempt("storage", () => localStorage.length);
  attempt("session", () => sessionStorage.length);
  attempt("cookie", () => document.cookie);
  attempt("popup", () => window.open("/"));
  // biome-ignore lint/security/noGlobalEval: the policy of the frame has to refuse it
  attempt("eval", () => eval("1"));
  attempt("socket", () => new WebSocket(location.href.replace("http", "ws")).readyState);
  document.body.innerHTML = '<img id="i" src="http://127.0.0.1:9/x.png"><script>parent.postMessage("pwned","*")</scr' + "ipt>";
  const database = new Promise((resolve) => {
    try {
      const opening = indexedDB.open("x");
      opening.onerror = () => resolve("refused");
      opening.onsuccess = () => resolve("did");
    } catch {
      resolve("refused");
    }
  });
  const network = fetch("/healthz").then(
    () => "did",
    () => "refused",
  );
  addEventListener("message", async ({ data, ports: [port] }) => {
    if (data.type !== "port" || !port) return;
    const waiting = new Map<unknown, (answer: Answer) => void>();
    port.onmessage = ({ data: answer }) => waiting.get(answer.id)?.(answer);
    const call = (id: unknown, method: string, params?: unknown) =>
      new Promise<Answer>((resolve) => {
        waiting.set(id, resolve);
        port.postMessage({ id, method, params });
      });
    const outcome = ({ ok, error }: Answer) => (ok ? "did" : error?.code);
    /** Asks again as long as the page says that it is too soon. */
    const said = async (id: unknown, method: string, params?: unknown): Promise<string | undefined> => {
      const answer = await call(id, method, params);
      if (answer.error?.code !== "RATE_LIMITED") return outcome(answer);
      await new Promise((resolve) => setTimeout(resolve, answer.error?.retryAfterMs));
      return said(id, method, params);
    };
    const flood = (await Promise.all(Array.from({ length: 100 }, (_, i) => call(i, "health")))).map(outcome);
    found.flood = { done: flood.filter((one) => one === "did").length, limited: flood.filter((one) => one === "RATE_LIMITED").length };
    found.origin = self.origin;
    found.network = await network;
    found.database = await database;
    found.declared = await said("a", "health");
    found.undeclared = await said("b", "config.get");
    found.megabyte = await said("c", "health", { text: "x".repeat(1_048_576) });
    found.set = await said("d", "strange.set", {});
    await said("e", "strange.report", found);
    const mark = document.createElement("p");
    mark.textContent = "all was tried";
    document.body.append(mark);
  });
  parent.postMessage("ready", "*");
  parent.postMessage("ready", "*");
}

async function visit(address: string, options: Parameters<typeof visitView>[3] = desktop): Promise<Page> {
  tab = await visitView(browser, gateway, address, options);
  return tab.page;
}

const enable = (pluginId: string, enabled: boolean) => gateway.rpc("plugins.setEnabled", { pluginId, enabled });
const evilReport = () => gateway.rpc<Array<Record<string, unknown>>>("strange.reports", {});
/** Refusals of the frame's own policy are what is wanted. */
const forgiveFrame = () => {
  const own = tab.problems.filter(
    (problem) => !/panel\/strange|sandbox|opaque|null'|127\.0\.0\.1:9|healthz|policy: script-src eval/.test(problem),
  );
  tab.problems.length = 0;
  tab.problems.push(...own);
};

describe("the example", () => {
  test("shows its data on the overview, and a form of it greets", async () => {
    const page = await visit("#/overview");
    const widget = page.getByRole("region", { name: "Greetings" });
    await widget.getByText("Greeted").waitFor();
    await widget.getByLabel("Name").fill("Ada");
    await widget.getByRole("button", { name: "Greet", exact: true }).click();
    await widget.getByRole("status").getByText("Hello, Ada!").waitFor();
    await widget.getByRole("cell", { name: "Hello, Ada!" }).waitFor();
    expect(await widget.getByLabel("Name").inputValue()).toBe("Ada");
    await widget.scrollIntoViewIfNeeded();
    await tab.picture("panels-widget-desktop");
  });

  test("shows its page in a frame, which calls the method it declared, from the rail and the palette", async () => {
    const page = await visit("#/overview");
    await page.getByRole("link", { name: "Greeting card" }).click();
    const card = page.frameLocator("iframe");
    await card.getByRole("heading", { name: "Hello, you!" }).waitFor();
    await card.getByLabel("Name").fill("Grace");
    await card.getByRole("button", { name: "Greet", exact: true }).click();
    await card.getByRole("heading", { name: "Hello, Grace!" }).waitFor();
    expect(await page.locator("iframe").getAttribute("sandbox")).toBe("allow-scripts");
    expect(await page.getByRole("link", { name: "Greeting card" }).getAttribute("aria-current")).toBe("page");
    await tab.picture("panels-frame-desktop");
    await page.evaluate("location.hash = '#/overview'");
    await page.getByRole("heading", { level: 1, name: /Running/ }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("greeting");
    await page.keyboard.press("Enter");
    await card.getByRole("heading", { name: "Hello, you!" }).waitFor();
  });
});

describe("data", () => {
  test("of every kind is drawn as texts, whatever they say", async () => {
    const page = await visit("#/panel/strange/all");
    await page.getByRole("heading", { level: 1, name: /^All/ }).waitFor();
    await page.getByRole("button", { name: "Set it" }).waitFor();
    await expectUnharmed(page);
    expect(await markupOf(page)).toEqual([]);
    await tab.picture("panels-data-desktop");
  });

  test("is changed by its form and its commands; what fails says so in its place, and what is typed stays", async () => {
    const page = await visit("#/panel/strange/all");
    await page.getByLabel("Level").fill("much");
    await page.getByRole("button", { name: "Set it" }).click();
    await page.getByRole("alert").getByText("Level: expected a number.").waitFor();
    await page.getByLabel("Level").fill("3");
    await page.getByLabel("Colour").selectOption("red");
    await page.getByLabel("On", { exact: true }).uncheck();
    await page.getByRole("button", { name: "Set it" }).click();
    await page
      .getByRole("group", { name: "Result" })
      .getByText(/"level": 3,\s+"on": false,\s+"colour": "red"/)
      .waitFor();
    await page.getByRole("button", { name: /^Fail/ }).click();
    await page
      .getByRole("alert")
      .getByText(/It was not done:/)
      .waitFor();
    expect(await page.getByLabel("Level").inputValue()).toBe("3");
    expect(await markupOf(page)).toEqual([]);
  });

  test("that breaks while it is seen says so above what was there, and comes back", async () => {
    const page = await visit("#/panel/strange/all");
    await page.getByRole("button", { name: "Set it" }).waitFor();
    await gateway.rpc("strange.set", { broken: true });
    await page.getByRole("button", { name: /^Refresh/ }).click();
    await page
      .getByRole("alert")
      .getByText(/panel "all" of plugin "strange" failed: no bulb/)
      .waitFor();
    expect(await page.getByRole("button", { name: "Set it" }).isVisible()).toBe(true);
    expect(await markupOf(page)).toEqual([]);
    await gateway.rpc("strange.set", { broken: false });
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
  });

  test("that no page could draw is named with its place", async () => {
    const page = await visit("#/panel/strange/wild");
    await page
      .getByRole("alert")
      .getByText(/panel "wild" of plugin "strange" answered what cannot be drawn: at blocks\.0\.kind/)
      .waitFor();
  });

  test("is shown with a plugin, and about a conversation, a call of a tool and a run", async () => {
    const page = await visit("#/plugins?q=strange");
    await page.locator(".foldable").getByRole("button", { expanded: false }).click();
    await page.getByRole("heading", { level: 3, name: "At settings" }).waitFor();
    await tab.picture("panels-settings-desktop");
    await page.evaluate("location.hash = '#/chat/agent%3Amain%3Amain'");
    await page.getByRole("textbox", { name: "Message" }).fill("Is it on?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".answer", { hasText: "The bulb is on." }).waitFor();
    const call = page.locator("details.tool").filter({ hasText: "look" }).first();
    await call.locator("summary").first().click();
    const about = call.locator("details.fold");
    await about.locator("summary").click();
    await about.getByText("toolCallId").waitFor();
    expect(await about.locator("dd").allInnerTexts()).toContain("look");
    await tab.picture("panels-tool-desktop");
    await page.getByRole("button", { name: "More about this conversation" }).click();
    await page.getByRole("menuitem", { name: /^at-session/ }).click();
    await page.getByRole("heading", { level: 1, name: "At session" }).waitFor();
    await page.locator("dd", { hasText: "agent:main:main" }).waitFor();
    await page.getByRole("link", { name: "Back to the conversation" }).click();
    await page.locator(".answer .answer-actions").waitFor();
    await page.locator(".answer .answer-actions").getByRole("button", { name: /More/ }).click();
    await page.getByRole("menuitem", { name: "Why did it say that" }).click();
    const run = page.getByRole("region", { name: "At run" });
    await run.getByText("runId").waitFor();
    await run.scrollIntoViewIfNeeded();
    await tab.picture("panels-run-desktop");
    expect(await markupOf(page)).toEqual([]);
  });
});

describe("a frame", () => {
  test("reaches neither parent, network nor storage, calls what it declared only, and is held to its pace", async () => {
    const page = await visit("#/panel/strange/evil");
    const frame = page.frameLocator("iframe");
    await frame.getByText("all was tried").waitFor();
    const [report] = await evilReport();
    expect(report).toMatchObject({
      ...{ parent: "refused: SecurityError", parentFunction: "refused: SecurityError", top: "refused: SecurityError" },
      ...{ storage: "refused: SecurityError", session: "refused: SecurityError", cookie: "refused: SecurityError" },
      ...{ popup: "did: null", eval: "refused: EvalError", origin: "null", network: "refused", database: "refused" },
      ...{ declared: "did", undeclared: "FORBIDDEN", megabyte: "TOO_LARGE", set: "did", flood: { done: 10, limited: 90 } },
    });
    expect(report?.socket).not.toBe("did: 1");
    expect(await page.evaluate(() => location.hash)).toBe("#/panel/strange/evil");
    forgiveFrame();
  });

  test("is cut off when it goes to another page, and does nothing more when its view is left", async () => {
    const page = await visit("#/panel/hello/card");
    const heading = page.frameLocator("iframe").getByRole("heading", { name: "Hello, you!" });
    await heading.waitFor();
    await page
      .frames()
      .find((one) => one.parentFrame() !== null)
      ?.evaluate("location.href = '/panel/strange/silent.html'");
    await page.getByText("The panel went to another page, so it was cut off.").waitFor();
    expect(await page.locator("iframe").count()).toBe(0);
    await page.getByRole("button", { name: "Start it again" }).click();
    await heading.waitFor();
  });

  test("that never starts is said to be silent", async () => {
    tab = await visitView(browser, gateway, "#/overview");
    await tab.page.clock.install();
    await tab.page.evaluate("location.hash = '#/panel/strange/silent'");
    await tab.page.frameLocator("iframe").getByText("It never says a word.").waitFor();
    await tab.page.clock.runFor(11_000);
    await tab.page.getByText(/The panel did not start within 10 seconds/).waitFor();
  });

  test("may do no more than its user: a call beyond the scopes is refused by the gateway", async () => {
    const reader = await gateway.ws({ scopes: ["operator.read"] });
    await expect(reader.request("strange.set", {})).rejects.toThrow("missing scope");
    tab = await visitChanged(browser, gateway, "#/panel/strange/all", without("admin|write"));
    await tab.page.getByRole("button", { name: "Set it" }).waitFor();
  });
});

test("over the wire nothing but its files is served of a plugin, and the page's config names its tabs", async () => {
  const get = (path: string) =>
    new Promise<{ status: number | undefined; text: string; policy: unknown }>((resolve, reject) => {
      // Other clients would tidy the path up.
      const asked = httpGet({ host: "127.0.0.1", port: new URL(gateway.url).port, path }, (answer) => {
        const { statusCode: status, headers } = answer;
        text(answer).then((found) => resolve({ status, text: found, policy: headers["content-security-policy"] }), reject);
      });
      asked.on("error", reject);
    });
  expect(await get("/panel/hello/index.html")).toMatchObject({
    status: 200,
    policy: expect.stringMatching(/^sandbox allow-scripts; default-src 'none'/),
  });
  const steps = ["../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..\\", "..%5c", "%252e%252e%252f", "./../", "%00/", "//"];
  for (const step of steps)
    for (const target of ["svc.plugin.json", "src/index.ts", "README.md", "../../package.json"]) {
      const found = await get(`/panel/hello/${step}${target}`);
      expect([400, 404], step + target).toContain(found.status);
      expect(found.text, step + target).not.toMatch(/hello|registerUiPanel|dependencies/);
    }
  const config = await fetch(`${gateway.url}/control-ui-config.json`, { headers: { authorization: `Bearer ${gateway.token}` } });
  expect(((await config.json()) as { pluginTabs: unknown[] }).pluginTabs).toContainEqual({
    ...{ pluginId: "hello", id: "card", label: "Greeting card", kind: "frame", icon: "note" },
  });
});

test("a plugin that stops takes its open panel away, with its links, and brings it back", async () => {
  const page = await visit("#/panel/hello/card");
  await page.frameLocator("iframe").getByRole("heading", { name: "Hello, you!" }).waitFor();
  await enable("hello", false);
  await page.getByRole("heading", { name: "This panel is not here now" }).waitFor();
  expect(await page.locator("iframe").count()).toBe(0);
  await eventually(async () => (await page.getByRole("link", { name: "Greeting card" }).count()) === 0);
  await tab.picture("panels-gone-desktop");
  expect((await fetch(`${gateway.url}/panel/hello/index.html`)).status).toBe(404);
  await enable("hello", true);
  await page.frameLocator("iframe").getByRole("heading", { name: "Hello, you!" }).waitFor();
});

test("on a phone they stand behind More, in one column", async () => {
  const page = await visit("#/overview", phone);
  await page.getByRole("region", { name: "Greetings" }).getByText("Greeted").waitFor();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Greeting card" }).click();
  await page.frameLocator("iframe").getByRole("heading", { name: "Hello, you!" }).waitFor();
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture("panels-frame-phone");
  await page.evaluate("location.hash = '#/panel/strange/all'");
  await page.getByRole("button", { name: "Set it" }).waitFor();
  expect(await isOneColumn(page)).toBe(true);
  await tab.picture("panels-data-phone");
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
])("axe finds nothing in data, frames and widgets, light and dark: %s", async (name, options) => {
  const page = await visit("#/panel/strange/all", options);
  await page.getByRole("button", { name: "Set it" }).waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await tab.picture(`panels-data-dark-${name}`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.evaluate("location.hash = '#/panel/hello/card'");
  await page.frameLocator("iframe").getByRole("heading", { name: "Hello, you!" }).waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.frameLocator("iframe").locator('[data-theme="dark"]').waitFor();
  await tab.picture(`panels-frame-dark-${name}`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.evaluate("location.hash = '#/overview'");
  await page.getByRole("region", { name: "Greetings" }).getByText("Greeted").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
});
