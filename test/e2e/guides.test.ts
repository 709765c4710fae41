import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, openTab } from "./_browser.ts";
import { configured, freePort, gatewayIn, root, stopAll, token } from "./_cli.ts";
import { commandWords, type GuideBlock, guideBlocks } from "./_guide.ts";
import { linkFolder, linkPackage, type PackedProduct, packProduct, runTool } from "./_packed.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

const folder = join(root, "sdk/docs/guide");
const pages = readdirSync(folder).map((name) => ({ name, blocks: guideBlocks(readFileSync(join(folder, name), "utf8")) }));

let product: PackedProduct;
let home: Home;
let gateway: Running;
const authors: string[] = [];

beforeAll(async () => {
  product = await packProduct();
  home = await configured(await product.home());
  gateway = await gatewayIn(home);
});

afterAll(async () => {
  await stopAll();
  await home?.remove();
  await product?.remove();
  for (const author of authors) await rm(author, { recursive: true, force: true });
});

/** A reader who does what the page says, block by block, in an empty folder. */
async function createReader() {
  const author = await mkdtemp(join(tmpdir(), "svc-guide-"));
  const port = await freePort();
  authors.push(author);
  let cwd = author;
  let said = "";
  const exported: Record<string, string> = {};
  let server: ChildProcess | undefined;
  let dev: { child: ChildProcess; lines(): string[] } | undefined;

  const startDev = async () => {
    const child = spawn(process.execPath, [home.program as string, "plugins", "dev", "--json"], { cwd, env: home.env });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    dev = { child, lines: () => text.split("\n").slice(0, -1) };
    await eventually(() => (dev?.lines().length ?? 0) > 0, 20_000);
  };
  const gatewayUrl = () => `ws://127.0.0.1:${gateway.port}`;
  const runScript = async (file: string): Promise<string> => {
    const env = { ...home.env, GATEWAY_URL: gatewayUrl(), GATEWAY_TOKEN: token };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { cwd, env });
    expect(stderr).toBe("");
    return stdout;
  };
  const serve = async () => {
    const child = spawn(process.execPath, ["serve.mjs"], { cwd, env: home.env });
    server = child;
    await eventually(async () => (await fetch(`http://127.0.0.1:${port}/`)).ok, 10_000);
  };
  /** Opens the page that is served, does what its form asks for, and reads what it says. */
  const seePage = async (expected: string): Promise<void> => {
    const browser = await launchChromium();
    try {
      const { page, problems } = await openTab(browser);
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.locator("[name=url]").fill(gatewayUrl());
      await page.locator("[name=token]").fill(token);
      await page.getByRole("button").click();
      await page.getByText(expected).waitFor();
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  };
  /** What only a shell understands; what it exports is there for the next lines. */
  const runShell = async (line: string): Promise<void> => {
    const name = /^export (\w+)=/.exec(line)?.[1];
    const script = `svc() { "${process.execPath}" "${home.program}" "$@"; }\n${line}${name ? `\nprintf %s "$${name}"` : ""}`;
    const { stdout } = await promisify(execFile)("sh", ["-ec", script], { cwd, env: { ...home.env, ...exported } });
    if (name) exported[name] = stdout;
    else said = stdout;
  };
  const runLine = async (line: string): Promise<void> => {
    const [program, ...args] = commandWords(line);
    if (program === "cd") cwd = join(cwd, args[0] as string);
    else if (line === "svc plugins dev") await startDev();
    else if (line === "npm link svc") await linkFolder(cwd, "svc", product.packageRoot);
    else if (line === "npm install ws") await linkPackage(cwd, "ws");
    else if (line === "node serve.mjs") await serve();
    else if (program === "curl" || program === "export" || line.includes("$")) await runShell(line);
    else if (program === "node") said = await runScript(args[0] as string);
    else if (line === "npm install && npm test") {
      for (const name of ["vitest", "@types/node"]) await linkPackage(cwd, name);
      expect(await runTool("vitest/vitest.mjs", ["run"], cwd)).toMatchObject({ code: 0 });
    } else if (line === "npx tsc --noEmit") expect(await runTool("typescript/bin/tsc", ["--noEmit"], cwd)).toEqual({ code: 0, text: "" });
    else {
      expect(program, line).toBe("svc");
      const done = await svcCommand({ ...home, cwd }, args);
      expect(`${line}: ${done.code} ${done.code === 0 ? "" : done.stdout + done.stderr}`).toBe(`${line}: 0 `);
      said = done.stdout;
    }
  };
  const write = async ({ file, text }: GuideBlock): Promise<void> => {
    const before = dev?.lines().length ?? 0;
    const path = (file as string).startsWith("~/") ? join(home.env.HOME as string, (file as string).slice(2)) : join(cwd, file as string);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    if (dev) await eventually(() => (dev?.lines().length ?? 0) > before, 20_000);
  };

  const endServer = async (use: () => Promise<void>): Promise<void> => {
    const child = server;
    server = undefined;
    try {
      await use();
    } finally {
      child?.kill("SIGTERM");
    }
  };

  return {
    async follow(block: GuideBlock): Promise<void> {
      const text = block.text.replaceAll("8080", String(port)).replaceAll("127.0.0.1:18789", `127.0.0.1:${gateway.port}`);
      if (block.file !== undefined) return write({ ...block, text });
      if (block.language === "sh") for (const line of text.trim().split("\n")) await runLine(line);
      else if (server) await endServer(() => seePage(text.trim()));
      else expect(said).toContain(block.text.trim());
    },
    async leave(): Promise<void> {
      if (!dev) return;
      dev.child.kill("SIGINT");
      await once(dev.child, "close");
      expect(JSON.parse(dev.lines().at(-1) as string)).not.toHaveProperty("error");
    },
  };
}

test("there is a guide for each thing a newcomer wants to do", () => {
  expect(pages.map((p) => p.name)).toEqual([
    "channel.md",
    "embedding-adapter.md",
    "hook-preset.md",
    "plugin-in-five-minutes.md",
    "publish-and-install.md",
    "talk-to-the-gateway.md",
    "test-a-plugin.md",
    "webhook-in-five-minutes.md",
  ]);
});

describe("a reader who does as the page says gets there", () => {
  test.each(pages)("$name", async ({ blocks }) => {
    expect(blocks.length).toBeGreaterThan(2);
    const reader = await createReader();

    for (const block of blocks) await reader.follow(block);

    await reader.leave();
  });
});

test("the parts of a page are told apart", () => {
  const page = "text\n```ts\n// file: src/a.ts\nconst a = 1;\n```\n```sh\nsvc x --y 'a b'\n```\n```md\n<!-- file: R.md -->\n# r\n```\n";

  expect(guideBlocks(page)).toEqual([
    { language: "ts", file: "src/a.ts", text: "const a = 1;\n" },
    { language: "sh", text: "svc x --y 'a b'\n" },
    { language: "md", file: "R.md", text: "# r\n" },
  ]);
  expect(commandWords("svc x --y 'a b' \"c d\"")).toEqual(["svc", "x", "--y", "a b", "c d"]);
});
