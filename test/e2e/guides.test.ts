import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configured, gatewayIn, root, stopAll } from "./_cli.ts";
import { commandWords, type GuideBlock, guideBlocks } from "./_guide.ts";
import { linkPackage, type PackedProduct, packProduct, runTool } from "./_packed.ts";
import { type Home, svcCommand } from "./_process.ts";

const folder = join(root, "sdk/docs/guide");
const pages = readdirSync(folder).map((name) => ({ name, blocks: guideBlocks(readFileSync(join(folder, name), "utf8")) }));

let product: PackedProduct;
let home: Home;
const authors: string[] = [];

beforeAll(async () => {
  product = await packProduct();
  home = await configured(await product.home());
  await gatewayIn(home);
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
  authors.push(author);
  let cwd = author;
  let said = "";
  let dev: { child: ChildProcess; lines(): string[] } | undefined;

  const startDev = async () => {
    const child = spawn(process.execPath, [home.program as string, "plugins", "dev", "--json"], { cwd, env: home.env });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    dev = { child, lines: () => text.split("\n").slice(0, -1) };
    await eventually(() => (dev?.lines().length ?? 0) > 0, 20_000);
  };
  const runLine = async (line: string): Promise<void> => {
    const [program, ...args] = commandWords(line);
    if (program === "cd") cwd = join(cwd, args[0] as string);
    else if (line === "svc plugins dev") await startDev();
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
    await writeFile(join(cwd, file as string), text);
    if (dev) await eventually(() => (dev?.lines().length ?? 0) > before, 20_000);
  };

  return {
    async follow(block: GuideBlock): Promise<void> {
      if (block.file !== undefined) return write(block);
      if (block.language === "sh") for (const line of block.text.trim().split("\n")) await runLine(line);
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
    "plugin-in-five-minutes.md",
    "publish-and-install.md",
    "test-a-plugin.md",
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
