import type { Browser, Page } from "playwright-core";
import type { SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolationsInBothSchemes, desktop, launchChromium, openTab, phone, type Tab, takeTab } from "./_browser.ts";

const { describe, test } = needs("chromium");

const TOKEN = "hook-token-of-this-test-0123456789";
const hostile = `<img src=x onerror="document.title='taken'"> ‮ {{x}}`;
const hooks = {
  enabled: true,
  token: TOKEN,
  presets: ["gmail", "nobodys"],
  mappings: [
    {
      id: "code",
      match: { path: "github" },
      name: "GitHub",
      messageTemplate: "Push by {{pusher}}",
      verify: { provider: "github", secret: "secret-of-github-1", mode: "instead" },
    },
    { id: "broken", match: { path: "broken" }, transform: { module: "not-there.ts" } },
    { id: "shop", match: { source: "shop" }, action: "wake", textTemplate: "Order {{id}}", agentId: "main" },
  ],
} satisfies SvcConfigInput["hooks"];

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  gateway = await createTestGateway({ models: [fakeModel(Array(200).fill("Looked at it."))] });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});
beforeEach(async () => {
  await gateway.reload({ hooks });
});
afterEach(async () => {
  await tab?.leave();
  expect(tab?.problems).toEqual([]);
});

async function signIn(options: Parameters<typeof takeTab>[1] = desktop, address = "#/webhooks"): Promise<Page> {
  tab = await takeTab(browser, options);
  await tab.page.goto(`${gateway.url}/#token=${gateway.token}`);
  await tab.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
  await tab.page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  return tab.page;
}

async function post(path: string, body: object): Promise<string> {
  const answer = await fetch(`${gateway.url}/hooks/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  });
  return ((await answer.json()) as { runId: string }).runId;
}

const deliveries = (page: Page) => page.locator(".delivery");
const region = (page: Page, name: string) => page.getByRole("region", { name });

/** A row as it stands in the database, without a run of its own. */
async function stored(
  uid: string,
  { name, state, at = Date.now() }: { name: string; state: "accepted" | "failed" | "expired"; at?: number },
) {
  const action = {
    ...{ kind: "agent", path: "agent", agentId: "main", isFallbackAgent: false, message: `the text of ${uid}`, name },
    ...{ sessionKey: `agent:main:hook:${uid}`, sessionMode: "isolated", wakeMode: "next-heartbeat", deliver: false, channel: "last" },
  };
  const store = gateway.service("store@2");
  const base = { uid, dir: "hook-agent" as const, lane: `agent:main:hook:${uid}`, expiresAt: at + 86_400_000, payload: { v: 1, action } };
  const result = { status: "error", reason: `the model is gone ${hostile}`, about: { path: "agent", name, agentId: "main" } };
  const later = { notBefore: at + 3_600_000, result: { reason: "the provider was away" } };
  // One commit: nobody takes it up in between.
  await store.commit([
    { op: "delivery.accept", delivery: base, at },
    state === "accepted"
      ? { op: "delivery.requeue", uid, from: ["accepted"], ...later, at }
      : { op: "delivery.finish", uid, from: ["accepted"], state, result, at },
  ]);
}

describe("while hooks are on", () => {
  test("the address, a call with the token as a variable, and what each path does", async () => {
    const page = await signIn();
    await page.getByText(`Accepted at ${gateway.url}/hooks, 4 mappings.`).waitFor();
    const call = page.getByLabel("Call", { exact: true });
    expect(await call.textContent()).toContain(`curl ${gateway.url}/hooks/agent \\\n  -H "Authorization: Bearer $HOOK_TOKEN"`);
    await page.getByRole("button", { name: "Leave a line" }).click();
    expect(await call.textContent()).toContain("/hooks/wake");

    const mappings = region(page, "Mappings");
    const rows = await mappings.getByRole("listitem").allInnerTexts();
    expect(rows[0]).toMatch(/\/hooks\/github[\s\S]*runs the default agent[\s\S]*code[\s\S]*opened by signature \(github\)/);
    expect(rows[1]).toMatch(/does not work[\s\S]*not there/);
    expect(rows[2]).toMatch(/\/hooks\/…[\s\S]*wakes agent main · only source shop/);
    expect(rows[3]).toMatch(/\/hooks\/gmail[\s\S]*preset gmail[\s\S]*one for each of messages/);
    await mappings.getByText("No plugin brings it.").waitFor();
    expect(await page.content()).not.toContain(TOKEN);
    expect(await page.content()).not.toContain("secret-of-github-1");
  });

  test("what Copy call copies is what stands there, and it works in a shell's words", async () => {
    const page = await signIn();
    await tab.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy call", exact: true }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();

    const copied = await page.evaluate(() => navigator.clipboard.readText());

    expect(copied).toBe(await page.getByLabel("Call", { exact: true }).textContent());
    expect(JSON.parse(/-d '(.*)'/.exec(copied)?.[1] ?? "")).toMatchObject({ message: expect.any(String) });
  });

  test("a delivery appears by itself, with its state as a word, and opens to its steps", async () => {
    const page = await signIn();
    await page.getByText("Last deliveries").waitFor();
    const uid = await post("agent", { message: "The build is red", name: "Build", deliver: false, wakeMode: "next-heartbeat" });

    const row = deliveries(page).filter({ hasText: "Build" }).first();
    await row.getByText("done", { exact: true }).waitFor();
    await row.getByRole("button", { name: /Build/ }).click();

    await row.getByText(uid).waitFor();
    expect(await row.innerText()).toMatch(/Run\s*answered[\s\S]*Summary\s*reported to the main session/);
    expect(await row.getByRole("link", { name: "Open session" }).getAttribute("href")).toMatch(/^#\/chat\/agent%3Amain%3Ahook/);
    await tab.picture("webhooks-desktop");
  });

  test("what failed is asked for once more before it is begun again; its text is shown only on request", async () => {
    await stored("failed-1", { name: "Night report", state: "failed" });
    const page = await signIn(desktop, "#/webhooks?f=failed");
    const row = deliveries(page).filter({ hasText: "Night report" });
    await row.getByRole("button", { name: /Night report/ }).click();
    expect(await page.content()).not.toContain("the text of failed-1");
    await row.getByRole("button", { name: "Show text" }).click();
    await row.getByText("the text of failed-1").waitFor();
    await tab.picture("webhooks-failed-desktop");

    await row.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect((await gateway.service("store@2").deliveries.get("failed-1"))?.state).toBe("failed");
    await row.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();

    await eventually(async () => (await gateway.service("store@2").deliveries.get("failed-1"))?.state === "done");
    await eventually(async () => (await row.count()) === 0);
  });

  test("one that waits is given up with a question; it then counts as failed", async () => {
    await stored("waits-1", { name: "Slow sender", state: "accepted" });
    const page = await signIn(desktop, "#/webhooks?f=waiting");
    const row = deliveries(page).filter({ hasText: "Slow sender" });
    await row.getByText(/next try in 5\d min/).waitFor();
    await row.getByRole("button", { name: /Slow sender/ }).click();
    await row.getByRole("button", { name: "Drop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();

    await eventually(async () => (await gateway.service("store@2").deliveries.get("waits-1"))?.state === "failed");
    await page.getByRole("button", { name: "Failed", exact: true }).click();
    await deliveries(page).filter({ hasText: "Slow sender" }).waitFor();
    expect(page.url()).toMatch(/#\/webhooks\?f=failed$/);
  });

  test("text from outside stays text", async () => {
    await stored("hostile-1", { name: hostile, state: "expired" });
    const page = await signIn(desktop, "#/webhooks?f=failed");
    const row = deliveries(page).filter({ hasText: "onerror" });
    await row.getByRole("button").first().click();
    await row.getByText("hostile-1", { exact: true }).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).not.toBe("taken");
  });
});

describe("a sign-in that may do less", () => {
  /** The gateway's answers as such a sign-in gets them. */
  async function restricted(change: (text: string) => string): Promise<Page> {
    tab = await openTab(browser);
    await tab.page.routeWebSocket(/.*/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => socket.send(change(String(message))));
    });
    await tab.page.goto(`${gateway.url}/#token=${gateway.token}`);
    await tab.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    await tab.page.evaluate("location.hash = '#/webhooks?f=failed'");
    return tab.page;
  }

  test("a reader sees everything, and why the buttons do nothing", async () => {
    await stored("read-1", { name: "Only read", state: "failed" });
    const page = await restricted((text) =>
      text.includes('"hello-ok"') ? text.replaceAll(/"operator\.(admin|write)",?/g, "").replaceAll(",]", "]") : text,
    );
    const row = deliveries(page).filter({ hasText: "Only read" });
    await row.getByRole("button", { name: /Only read/ }).click();
    const retry = row.getByRole("button", { name: "Retry" });
    expect([await retry.getAttribute("aria-disabled"), await retry.getAttribute("title")]).toEqual(["true", "This sign-in may only read"]);
    await retry.click({ force: true });
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("who may not see webhooks reads one line that says so; another failure names itself and can be tried again", async () => {
    let error = { code: "FORBIDDEN", message: "missing scope: operator.read" };
    const asked = new Set<unknown>();
    const page = await restricted((text) => {
      const frame = JSON.parse(text) as { type: string; id?: unknown; payload?: { mappings?: unknown } };
      if (!frame.payload?.mappings || frame.type !== "res") return text;
      asked.add(frame.id);
      return JSON.stringify({ type: "res", id: frame.id, ok: false, error });
    });
    await page.getByText("This sign-in is not allowed to see webhooks.").waitFor();
    error = { code: "UNAVAILABLE", message: "the store is away" };
    await page.getByRole("alert").getByText("the store is away").waitFor();
    await page.getByRole("button", { name: "Retry" }).click();
    await eventually(() => asked.size > 2);
  });
});

test("while they are off the page says how to switch them on", async () => {
  await gateway.reload({});
  const page = await signIn();
  await page.getByRole("heading", { name: "Switch them on" }).waitFor();
  expect(await page.locator(".command code").allTextContents()).toEqual(["svc hooks token --rotate", "svc config set hooks.enabled true"]);
  await tab.picture("webhooks-off-desktop");

  await gateway.reload({ hooks });
  await page.getByText("Accepted at").waitFor();
});

test("without the plugin one line says so, and how to start it", async () => {
  const own = await createTestGateway({ plugins: ["store", "agents", "control-ui", "devices"] });
  try {
    tab = await takeTab(browser);
    await tab.page.goto(`${own.url}/#token=${own.token}`);
    await tab.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    await tab.page.keyboard.press("g");
    await tab.page.keyboard.press("w");
    await tab.page.getByText("The webhooks plugin is not running on this gateway.").waitFor();
    expect(await tab.page.locator(".command code").textContent()).toBe("svc plugins enable webhooks");
  } finally {
    // The page would try to come back.
    await tab.leave();
    await own.close();
  }
});

test("by keyboard: there with two letters, through the filters, into a delivery and out of the question", async () => {
  await stored("keys-1", { name: "By keys", state: "failed" });
  const page = await signIn(desktop, "#/overview");
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await deliveries(page).filter({ hasText: "By keys" }).getByRole("button").first().focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Retry");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Retry");
});

test("on a phone it stands behind More, in one column that does not scroll sideways", async () => {
  const page = await signIn(phone, "#/overview");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Webhooks" }).click();
  await page.getByText("Accepted at").waitFor();
  await deliveries(page).first().waitFor();
  await tab.picture("webhooks-phone");
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  const main = page.locator("main");
  expect(await main.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  await deliveries(page).first().getByRole("button").first().click();
  await deliveries(page).first().locator(".detail").scrollIntoViewIfNeeded();
  await tab.picture("webhooks-phone-detail");
});

test.each([
  ["desktop", desktop],
  ["phone", phone],
  ["320 px", { width: 320, height: 640 }],
])("axe finds nothing, light and dark: %s", async (name, options) => {
  await stored(`axe-${name}`, { name: "For axe", state: "failed" });
  const page = await signIn(options);
  const row = deliveries(page).filter({ hasText: "For axe" }).first();
  await row.getByRole("button").first().click();
  await row.locator(".detail").waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
  await tab.picture(`webhooks-${name.replace(/ /g, "-")}`);

  await gateway.reload({});
  await page.getByRole("heading", { name: "Switch them on" }).waitFor();
  expect(await axeViolationsInBothSchemes(page)).toEqual([]);
});
