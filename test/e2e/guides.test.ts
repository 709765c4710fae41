import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { startFakeOllama } from "../fakes/ollama-chat.ts";
import { needs, skippedFor } from "../servers/needs.ts";
import { isRegistryThere } from "../servers/registry.ts";
import { launchChromium, openTab } from "./_browser.ts";
import { configured, gatewayIn, root, stopAll, token } from "./_cli.ts";
import { type GuideBlock, guideBlocks, shellLines } from "./_guide.ts";
import { type PackedProduct, packProduct } from "./_packed.ts";
import { expectTested, type SharedTests, sharedTests } from "./_plugin-tests.ts";
import type { Home } from "./_process.ts";
import { createReader, type ReaderOptions, TESTING } from "./_reader.ts";
import { fakeSupervisors, freePort } from "./_supervisors.ts";
import { TypedCommands } from "./_typed-commands.ts";
import { linkVendorPackages } from "./_vendor-packages.ts";

const folder = join(root, "sdk/docs/guide");
const pageOf = (name: string, path: string) => ({ name, blocks: guideBlocks(readFileSync(path, "utf8")) });
const guides = readdirSync(folder).map((name) => pageOf(name, join(folder, name)));
const readme = pageOf("README.md", join(root, "README.md"));

/** Lines of the guides that no test of this file types, each with the reason. */
const leftOutOfGuides: Readonly<Record<string, string>> = {
  "npm install -g --allow-scripts=better-sqlite3 ./svc-0.1.0.tgz": "global-install.test.ts does, into a folder of its own",
};
/** The same of README. */
const leftOut: Readonly<Record<string, string>> = {
  "npm install && npm start": "it installs and starts the checkout itself; .ci/smoke.mjs does, with an empty home",
  "npm install && npm test": "this file is a part of it",
  'alias svc="node $PWD/bin/svc.mjs"': "an alias is for the shell of a person; the reader's svc is a program on its PATH",
};

const isRegistryReached = await isRegistryThere();
if (!isRegistryReached && process.env.CI)
  throw new Error("the npm registry cannot be reached, and CI has to run npm install as the guides print it");

/** Programs that a page needs on the reader's machine. */
function needsOf(blocks: readonly GuideBlock[]): { test: typeof test } {
  const typed = blocks
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => shellLines(text).filter((line) => leftOutOfGuides[line] === undefined))
    .join("\n");
  if (/^(npm install|svc channels add)\b/m.test(typed) && !isRegistryReached && !typed.includes("npm start"))
    return skippedFor("the npm registry");
  if (/^dovecot\b/m.test(typed) && process.getuid?.() !== 0) return skippedFor("root, who starts dovecot");
  const programs = [
    "curl",
    "openssl",
    "ngircd",
    "ii",
    "prosody",
    "go-sendxmpp",
    "dovecot",
    "aiosmtpd",
    "mosquitto",
    "mosquitto_pub",
    "python3",
  ];
  const commands = programs.filter((command) => new RegExp(`\\b${command}\\b`).test(typed));
  return needs(...commands, ...(blocks.some(({ language }) => language === "html") ? ["chromium"] : []));
}

let product: PackedProduct;
let tests: SharedTests;
const commands = new TypedCommands();
const homes: Home[] = [];

beforeAll(async () => {
  product = await packProduct();
  tests = await sharedTests(product.packageRoot);
});

afterAll(async () => {
  await stopAll();
  for (const home of homes) await home.remove();
  await tests?.remove();
});

/** `svc channels add` of one page, that of MQTT, runs npm; `.ci/run` has run it for these, and their pages find the packages there. */
const channelsWithPackages = ["discord", "mail", "matrix", "slack", "telegram"].map((name) => `channel-${name}`);

/** A gateway of the packed product, and where it listens, also after it has restarted itself. */
async function startProduct(): Promise<Pick<ReaderOptions, "home" | "port">> {
  const home = await configured(await product.home());
  homes.push(home);
  await linkVendorPackages(home, channelsWithPackages);
  await gatewayIn(home);
  const port = () =>
    eventually(async () => {
      const info = JSON.parse(await readFile(join(home.stateDir, "gateway/runtime.json"), "utf8")) as { port: number };
      return (await fetch(`http://127.0.0.1:${info.port}/readyz`)).ok && info.port;
    }, 30_000);
  return { home, port };
}

/** A home of the packed product without a gateway, on a machine whose supervisors are fakes. */
async function machineOfProduct(): Promise<Pick<ReaderOptions, "home" | "port" | "texts" | "tools">> {
  const home = await product.home();
  homes.push(home);
  const port = await freePort();
  await configured(home, { gateway: { mode: "local", port, auth: { token } } });
  const { env, bin } = await fakeSupervisors(home, "linux");
  Object.assign(home.env, env);
  return { home, port: async () => port, texts: { "18790": String(await freePort()) }, tools: bin };
}

/** An Ollama until the test is over, and what stands for its address and its model on the page. */
async function ollamaOfReader(): Promise<Record<string, string>> {
  const ollama = await startFakeOllama();
  onTestFinished(() => ollama.close());
  return { "127.0.0.1:11434": new URL(ollama.origin).host, "qwen3:4b": "x-text" };
}

/** Opens a page that a guide serves, does what its form asks for, and reads what it says. */
async function seePage(expected: string, serverPort: number, gatewayPort: number): Promise<void> {
  const browser = await launchChromium();
  try {
    const { page, problems } = await openTab(browser);
    await page.goto(`http://127.0.0.1:${serverPort}/`);
    await page.locator("[name=url]").fill(`ws://127.0.0.1:${gatewayPort}`);
    await page.locator("[name=token]").fill(token);
    await page.getByRole("button").click();
    await page.getByText(expected).waitFor();
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
}

test("there is a guide for each thing a newcomer wants to do", () => {
  expect(guides.map((p) => p.name)).toEqual([
    "backup-and-restore.md",
    "channel.md",
    "discord.md",
    "embedding-adapter.md",
    "first-model.md",
    "hook-preset.md",
    "https-and-proxy.md",
    "import.md",
    "install.md",
    "irc-in-five-minutes.md",
    "mail-in-five-minutes.md",
    "matrix.md",
    "monitoring.md",
    "mqtt-in-five-minutes.md",
    "openai-endpoint.md",
    "panel.md",
    "performance-and-sizing.md",
    "plugin-in-five-minutes.md",
    "publish-and-install.md",
    "remote-access.md",
    "run-as-a-service.md",
    "secrets.md",
    "security-model.md",
    "several-gateways.md",
    "signal.md",
    "slack.md",
    "talk-to-the-gateway.md",
    "telegram.md",
    "test-a-plugin.md",
    "troubleshooting.md",
    "upgrade.md",
    "webhook-in-five-minutes.md",
    "xmpp-in-five-minutes.md",
  ]);
});

describe("a reader who types what the page prints gets there", () => {
  let gateway: Pick<ReaderOptions, "home" | "port"> | undefined;
  /** Pages with tests of a plugin whose reader got there. */
  const tested: string[] = [];

  for (const { name, blocks } of guides) {
    needsOf(blocks).test(name, { timeout: 300_000 }, async () => {
      gateway ??= await startProduct();
      const at = name === "run-as-a-service.md" ? await machineOfProduct() : gateway;
      const { port } = at;
      const reader = await createReader({
        ...at,
        commands,
        ...(name === "first-model.md" ? { texts: await ollamaOfReader() } : {}),
        leftOut: leftOutOfGuides,
        tests,
        seePage: async (expected, server) => seePage(expected, server, await port()),
      });
      expect(blocks.length).toBeGreaterThan(2);

      for (const block of blocks) await reader.follow(block);

      reader.leave();
      if (blocks.some(({ text }) => shellLines(text).includes(TESTING))) tested.push(name);
    });
  }

  const { test: withRegistry } = isRegistryReached ? { test } : skippedFor("the npm registry");
  withRegistry("and the tests pass where they share one run", { timeout: 300_000 }, async () => {
    expect(tested, "no page with tests of a plugin has been read: run those, too").not.toEqual([]);
    // One of them typed the line itself; a page that fails later may have left its tests, too.
    expect(tests.ids.length).toBeGreaterThanOrEqual(tested.length - 1);
    if (tests.ids.length === 0) return;

    const result = await tests.run();

    for (const id of tests.ids) expectTested(result, id);
  });

  needsOf(readme.blocks).test("README.md", { timeout: 300_000 }, async () => {
    const reader = await createReader({ ...(await startProduct()), commands, leftOut });

    for (const block of readme.blocks) await reader.follow(block);

    reader.leave();
  });

  test.each([
    ["README", [readme], leftOut],
    ["the guides", guides, leftOutOfGuides],
  ] as const)("what is left out of %s stands there, and has a reason", (_, pages, left) => {
    const lines = pages.flatMap(({ blocks }) => blocks.flatMap(({ text }) => shellLines(text)));
    for (const [line, reason] of Object.entries(left)) expect([lines.includes(line), reason.length > 10], line).toEqual([true, true]);
  });
});

describe("commands named in the running text", () => {
  const pages = [
    readFileSync(join(root, "README.md"), "utf8"),
    ...readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")),
  ];
  const inline = pages.flatMap((page) =>
    [...page.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code),
  );

  test("every npm script exists", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };
    const named = inline
      .flatMap((code) => /^npm (?:run )?(start|test|dev|[\w:]+)/.exec(code)?.[1] ?? [])
      .filter((name) => !["install", "pack", "root", "uninstall"].includes(name));
    for (const name of named) expect(Object.keys(scripts), name).toContain(name);
  });

  test("no page tells anybody to link svc through npm, or to take a package of that name from a registry", () => {
    for (const page of pages) expect(page).not.toMatch(/npm (?:link|i|install|add) (?:-\S+ )*svc\b/);
  });
});

test("the parts of a page are told apart", () => {
  const page =
    "text\n```ts\n// file: src/a.ts\nconst a = 1;\n```\n```sh\nsvc x \\\n  --y 'a b'\n\nnext\n```\n```md\n<!-- file: R.md -->\n# r\n```\n";

  const blocks = guideBlocks(page);

  expect(blocks).toEqual([
    { language: "ts", file: "src/a.ts", text: "const a = 1;\n" },
    { language: "sh", text: "svc x \\\n  --y 'a b'\n\nnext\n" },
    { language: "md", file: "R.md", text: "# r\n" },
  ]);
  expect(shellLines(blocks[1]?.text ?? "")).toEqual(["svc x \\\n  --y 'a b'", "next"]);
});
