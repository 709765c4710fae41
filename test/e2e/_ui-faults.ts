import type { Browser, Locator, Page, WebSocketRoute } from "playwright-core";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { desktop, openTab, type Tab } from "./_browser.ts";

/** A view of the page, and the place where something is typed in it. */
export interface FaultRow {
  name: string;
  address: string;
  /** A sign that it shows what it is for. */
  sign(page: Page): Locator;
  /** Opens what has to be opened, and returns the field. */
  field?(page: Page): Promise<Locator> | Locator;
  /** Its field belongs to the address or is a mere search: a reload may empty it. */
  isSearch?: true;
}

const box = (name: string | RegExp) => (page: Page) => page.getByRole("textbox", { name });
const heading = (name: string | RegExp) => (page: Page) => page.getByRole("heading", { level: 1, name });
const behind = (button: string, label: string) => async (page: Page) => {
  await page.getByRole("button", { name: button, exact: true }).first().click();
  return page.getByLabel(label, { exact: true });
};

/** Text that stays in every field while something happens to the connection. */
export const TYPED = "typed before it happened";

/** Every view. */
export const faultRows: readonly FaultRow[] = [
  { name: "overview", address: "#/overview", sign: heading(/Running for/), field: box("Question") },
  { name: "chat", address: "#/chat/agent%3Amain%3Amain", sign: (page) => page.getByText("Nothing is open."), field: box("Message") },
  { name: "explain", address: "#/explain/fault-run", sign: (page) => page.locator("main").getByText("Nothing is open.") },
  {
    name: "sessions",
    address: "#/sessions",
    sign: heading("Sessions"),
    field: (page) => page.getByRole("searchbox", { name: "Search sessions" }),
    isSearch: true,
  },
  {
    name: "memory",
    address: "#/memory",
    sign: (page) => page.getByText("memory/home.md").first(),
    field: behind("New note", "Text of the note"),
  },
  {
    name: "a note",
    address: "#/memory/file/memory/home.md?q=&e=1",
    sign: box("memory/home.md"),
    field: box("memory/home.md"),
  },
  {
    name: "channels",
    address: "#/channels",
    sign: heading("Channels"),
    field: async (page) => {
      await page.getByRole("button", { name: "irc", exact: true }).click();
      return page.getByRole("form", { name: "Set up irc" }).getByLabel(/^host/i).first();
    },
  },
  { name: "webhooks", address: "#/webhooks", sign: heading("Webhooks"), field: (page) => page.getByLabel("Token for senders") },
  {
    name: "plugins",
    address: "#/plugins",
    sign: (page) => page.getByText("control-ui", { exact: true }),
    field: (page) => page.getByLabel(/^Name on npm/),
  },
  { name: "devices", address: "#/devices", sign: (page) => page.getByRole("heading", { name: "Connected now" }) },
  { name: "agents", address: "#/agents?a=main&file=SOUL.md", sign: box("SOUL.md"), field: box("SOUL.md") },
  {
    name: "models",
    address: "#/models",
    sign: heading("Models"),
    field: async (page) => {
      await page.getByRole("button", { name: "Add a provider" }).click();
      await page.getByRole("button", { name: "An address of your own" }).click();
      return page.getByLabel("Name here");
    },
  },
  { name: "schedule", address: "#/schedule", sign: heading("Schedule"), field: behind("New job", "Name") },
  { name: "mcp", address: "#/mcp", sign: heading("MCP servers"), field: behind("Add a server", "Name") },
  { name: "usage", address: "#/usage", sign: (page) => page.getByText(/1 run, /).first() },
  {
    name: "logs",
    address: "#/logs",
    sign: (page) => page.getByText("The log is empty"),
    field: (page) => page.getByRole("searchbox", { name: "Search the log" }),
    isSearch: true,
  },
  { name: "audit", address: "#/audit", sign: (page) => page.locator(".foldable").first(), field: box("Who did it"), isSearch: true },
  { name: "about", address: "#/about", sign: heading("About") },
  // The last one: whoever leaves it with edits is asked.
  { name: "config", address: "#/config/gateway.publicOrigin", sign: heading("Config"), field: box("Public origin") },
];

const plugins = [
  ...["store", "agents", "approvals", "messaging", "channel-irc", "webhooks", "cron", "operator", "devices", "memory-core"],
  ...["usage", "audit", "mcp-client", "plugin-manager", "model-openai-compatible", "control-ui"],
];

/** Config of such a gateway, with another token on wish. */
const configWith = (token?: string) => ({
  agents: { defaults: { skipBootstrap: true, memorySearch: { provider: "none" as const } } },
  ...(token ? { gateway: { auth: { token } } } : {}),
});

/** A gateway for every view: one run, one note, one file of an agent. With a `port` it is the one that was there before. */
export async function faultGateway(stateDir: string, port?: number): Promise<TestGateway> {
  const gateway = await createTestGateway({
    plugins,
    models: [fakeModel(Array(50).fill({ text: "Nothing is open.", usage: { input: 10, output: 5, total: 15 } }))],
    workspace: { "SOUL.md": "# Soul\n", "memory/home.md": "# Home\n\nThe router stands in the hall.\n" },
    config: configWith(),
    stateDir,
    ...(port === undefined ? {} : { env: { SVC_GATEWAY_PORT: String(port) } }),
  });
  if (port !== undefined) return gateway;
  await gateway.rpc("chat.send", { sessionKey: "agent:main:main", message: "What is open?", idempotencyKey: "fault-run" });
  await gateway.rpc("agent.wait", { runId: "fault-run" });
  return gateway;
}

/** A tab whose network can be taken away: by a socket that closes, or by one that falls silent. */
export interface FaultTab extends Tab {
  /** Ends the connection, and every new one, until `mend`. `isUnnoticed`: the socket there is falls silent, and nobody tells the page. */
  cut(how?: { isUnnoticed?: boolean }): Promise<void>;
  /** Network is back. */
  mend(): Promise<void>;
}

export async function openFaultTab(browser: Browser, { clock = false } = {}): Promise<FaultTab> {
  const tab = await openTab(browser, { ...desktop, still: true });
  const { page } = tab;
  if (clock) await page.clock.install();
  // Edits of the config would hold the page with a question.
  await page.addInitScript(() => {
    const add = window.addEventListener.bind(window) as (type: string, ...rest: unknown[]) => void;
    window.addEventListener = (type: string, ...rest: unknown[]) => void (type === "beforeunload" || add(type, ...rest));
  });
  let isCut = false;
  let isSilent = false;
  const sockets = new Set<WebSocketRoute>();
  await page.routeWebSocket(/.*/, (socket) => {
    if (isCut) return void socket.close({ code: 1011, reason: "no network" });
    sockets.add(socket);
    const server = socket.connectToServer();
    socket.onMessage((message) => void (isSilent || server.send(message)));
    server.onMessage((message) => void (isSilent || socket.send(message)));
  });
  return {
    ...tab,
    async cut({ isUnnoticed = false } = {}) {
      isCut = true;
      isSilent = isUnnoticed;
      if (isUnnoticed) return;
      for (const socket of sockets) await socket.close({ code: 1011, reason: "no network" }).catch(() => undefined);
      sockets.clear();
    },
    async mend() {
      isCut = false;
      isSilent = false;
      await page.evaluate("dispatchEvent(new Event('online'))");
    },
  };
}

/** Goes to a view, from another one or after signing in. */
async function enterView(page: Page, gateway: { url: string; token: string }, { address, sign }: FaultRow): Promise<void> {
  if (page.url() === "about:blank") await page.goto(`${gateway.url}/#token=${gateway.token}`);
  await connected(page);
  const hasEdits = (await page.getByText("1 change not saved").count()) > 0;
  if ((await page.locator("dialog[open]").count()) > 0) {
    await page.keyboard.press("Escape");
    // Only then is its address given up: it would take the place of the next one.
    await page.locator("dialog").first().waitFor({ state: "detached" });
  }
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  if (hasEdits) await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await sign(page).first().waitFor();
}

const connected = (page: Page) => page.getByText("Connected", { exact: true }).waitFor({ timeout: 90_000 });

/** Types into the field of a view. @returns the field */
async function typeInto(page: Page, row: FaultRow): Promise<Locator | undefined> {
  const field = await row.field?.(page);
  await field?.fill(TYPED);
  return field;
}

/** Buttons that change nothing on the gateway: they show, copy, open a form, or change what only this page holds. */
const harmless = [
  /^(Try now|Copy|Show|Hide|Cancel|Close|Leave it off|Pause|Wrap lines|Read again|More|Latest|Details|Search)\b/,
  /^(Add a (provider|server)|Make one|Discard|Review changes|Undo|Reset|Edit|Attach|Actions for|Keep for reading offline|Forget this browser)\b/,
  /^New note$|\?$/, // an editor, and questions that fill the field
];

/** Names of buttons that would change something and do not say why they cannot. */
async function enabledWriters(page: Page): Promise<string[]> {
  const names = await page.locator("main button, dialog[open] button").evaluateAll((all) =>
    all
      .filter((one) => one.checkVisibility() && one.getAttribute("aria-disabled") !== "true" && !(one as HTMLButtonElement).disabled)
      .filter(
        (one) =>
          !one.hasAttribute("aria-haspopup") &&
          !one.hasAttribute("aria-expanded") &&
          !one.hasAttribute("aria-pressed") &&
          one.getAttribute("role") !== "tab",
      )
      .map((one) => one.getAttribute("aria-label") ?? one.textContent?.trim() ?? ""),
  );
  return names.filter((name) => !harmless.some((one) => one.test(name)));
}

const asOf = (page: Page) => page.locator("main").getByText(/\bas of \d\d:\d\d/i);
const LIMIT = { timeout: 30_000 };

/** Something that happens to the connection: how it begins, and how it is over. */
export interface Fault {
  name: string;
  begin(world: FaultWorld): Promise<unknown>;
  end(world: FaultWorld): Promise<unknown>;
}

/** A tab and the gateway that it looks at. */
export interface FaultWorld {
  tab: FaultTab;
  gateway: TestGateway;
}

/** Token of the gateway, and another one. */
const tokens: [string, string] = ["test-token-5f2d9a", "another-token-of-the-faults-0123456789"];
/** Token that the gateway takes now. */
export const currentToken = () => tokens[0];
const buildFile = "**/control-ui-config.json";

/** Faults that need no clock of their own. */
export const faults: readonly Fault[] = [
  { name: "the network is cut", begin: ({ tab }) => tab.cut(), end: ({ tab }) => tab.mend() },
  {
    name: "the gateway is restarted",
    begin: ({ gateway }) => gateway.close(),
    async end(world) {
      const { stateDir, url } = world.gateway;
      world.gateway = await faultGateway(stateDir, Number(new URL(url).port));
      await world.tab.mend();
    },
  },
  {
    name: "the gateway serves another build",
    async begin({ tab }) {
      await tab.page.route(buildFile, async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), serverBuildId: "another-build" } });
      });
      await tab.cut();
    },
    async end({ tab }) {
      await tab.mend();
      await connected(tab.page);
      await tab.page.getByText("A new version of this page is available.").waitFor();
      await tab.page.unroute(buildFile);
    },
  },
  {
    name: "the token is changed",
    async begin({ tab, gateway }) {
      const client = await gateway.client({ auth: { token: tokens[0] } });
      const { paired } = await client.request("device.pair.list", {});
      await tab.cut();
      // This browser has a token of its own, which would do.
      for (const { deviceId } of paired) await client.request("device.pair.remove", { deviceId });
      tokens.reverse();
      await gateway.reload(configWith(tokens[0]));
    },
    async end({ tab: { page, mend } }) {
      await mend();
      await page.getByText("The gateway refused this token.").waitFor();
      await page.locator("#secret").fill(tokens[0]);
      await page.keyboard.press("Enter");
    },
  },
];

/** Faults that no socket tells of; their tab has a clock that can be moved. */
export const silentFaults: readonly Fault[] = [
  {
    name: "the network falls silent",
    async begin({ tab }) {
      await tab.cut({ isUnnoticed: true });
      await tab.page.clock.fastForward(62_000);
    },
    end: ({ tab }) => tab.mend(),
  },
  {
    name: "the laptop sleeps for a night",
    async begin({ tab }) {
      const session = await tab.context.newCDPSession(tab.page);
      await session.send("Page.setWebLifecycleState", { state: "frozen" });
      await tab.cut({ isUnnoticed: true });
      await session.send("Page.setWebLifecycleState", { state: "active" });
      await session.detach();
      await tab.page.clock.setSystemTime((await pageTime(tab.page)) + NIGHT_MS);
    },
    end: ({ tab }) => tab.mend(),
  },
];

const NIGHT_MS = 8 * 3_600_000;

/** Lets a fault happen to each of these views. @returns what is wrong with them */
export async function wrongIn(world: FaultWorld, { name, begin, end }: Fault, rows: readonly FaultRow[]): Promise<string[]> {
  const wrong: string[] = [];
  const { page } = world.tab;
  for (const row of rows) {
    await enterView(page, world.gateway, row);
    const field = await typeInto(page, row);
    const seenAt = await pageTime(page);
    await begin(world);
    const away = await wrongWhileAway(page, field, seenAt);
    await end(world);
    wrong.push(...[...away, ...(await wrongWhenBack(page, row, field))].map((what) => `${name}: ${row.name} ${what}`));
  }
  return wrong;
}

/** Says what is wrong with a view without a connection: it has to say how old it is, to let nobody write, and to keep what was typed. */
async function wrongWhileAway(page: Page, field: Locator | undefined, seenAt: number): Promise<string[]> {
  await page.getByText("Connected", { exact: true }).waitFor({ state: "detached" });
  const mark = await asOf(page)
    .first()
    .textContent(LIMIT)
    .catch(() => null);
  const value = await field?.inputValue(LIMIT).catch(() => undefined);
  return [
    ...(mark === null ? ["does not say how old it is"] : []),
    ...(mark !== null && !isAbout(mark, seenAt) ? [`says that it is of another time: ${mark}`] : []),
    ...(field && value !== TYPED ? [`lost what was typed: ${value}`] : []),
    ...(await enabledWriters(page)).map((name) => `lets one press “${name}”`),
  ];
}

/** The same for one that is connected again: it has to show what it is for, as of now, and to have kept what was typed. */
async function wrongWhenBack(page: Page, { sign }: FaultRow, field: Locator | undefined): Promise<string[]> {
  await connected(page);
  const isFresh = await happens(
    asOf(page)
      .first()
      .waitFor({ ...LIMIT, state: "detached" }),
  );
  const isThere = await happens(sign(page).first().waitFor(LIMIT));
  const value = await field?.inputValue(LIMIT).catch(() => undefined);
  return [
    ...(isFresh ? [] : ["still says that it is old"]),
    ...(isThere ? [] : ["does not show what it is for"]),
    ...(field && value !== TYPED ? [`lost what was typed: ${value}`] : []),
    ...((await page
      .locator("main")
      .getByText(/could not be (read|fetched)/)
      .count()) > 0
      ? ["shows a failure that is over"]
      : []),
  ];
}

/** Is the time of a mark that of what was seen? A gateway says each 30 s that it is there. */
function isAbout(mark: string, seenAt: number): boolean {
  const [, hours, minutes] = /as of (\d\d):(\d\d)/i.exec(mark) ?? [];
  const seen = new Date(seenAt);
  const late = Number(hours) * 60 + Number(minutes) - (seen.getHours() * 60 + seen.getMinutes());
  return [-1, 0, 1].includes(((late + 2_160) % 1_440) - 720);
}

const pageTime = (page: Page) => page.evaluate(() => Date.now());
const happens = (wait: Promise<unknown>) =>
  wait.then(
    () => true,
    () => false,
  );
