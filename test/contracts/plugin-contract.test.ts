import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginCases } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedWithPlugins } from "../kernel/_plugins.ts";
import { failing, outcomeOf } from "./_mutants.ts";

interface Sample {
  manifest?: Record<string, unknown>;
  /** Statements of `setup`. */
  setup?: string;
  config?: string;
  id?: string;
  readme?: string | null;
  /** Further files, by name. */
  files?: Record<string, string>;
  /** Mode of its folder. */
  mode?: number;
}

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-contract-"));
});

const shared = sharedWithPlugins({ opened: [] as Array<{ close(): unknown }> });
afterAll(async () => {
  // Handles that faulty plugins leave open must not disturb the other files of this process.
  for (const one of shared.opened) one.close();
  await rm(folder, { recursive: true, force: true });
});

const schema = {
  type: "object",
  properties: { prefix: { default: "> ", type: "string" } },
  additionalProperties: false,
};

async function write(name: string, sample: Sample): Promise<string> {
  const root = join(folder, name);
  await mkdir(root);
  const manifest = {
    id: "sample",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    contributes: { tools: ["echo"] },
    configSchema: schema,
    ...sample.manifest,
  };
  const setup = sample.setup ?? "";
  const code = `import { definePlugin, durationMs, z } from "svc/sdk";
import { createServer } from "node:net";
const { opened } = globalThis["svc-test-shared"];
export default definePlugin({
  id: "${sample.id ?? "sample"}", version: "1.0.0", svc: { api: "^1.0.0" },
  config: ${sample.config ?? 'z.strictObject({ prefix: z.string().default("> ") })'},
  async setup(ctx) {
    ctx.registerTool({ name: "echo", description: "Repeats.", input: z.object({}), run: () => ctx.config.prefix });
    ${setup}
  },
});
`;
  await writeFile(join(root, "svc.plugin.json"), JSON.stringify(manifest));
  await writeFile(join(root, "index.ts"), code);
  if (sample.readme !== null) await writeFile(join(root, "README.md"), sample.readme ?? "# sample\n\nRepeats what it is told.\n");
  for (const [file, text] of Object.entries(sample.files ?? {})) await writeFile(join(root, file), text);
  if (sample.mode) await chmod(root, sample.mode);
  return root;
}

const casesOf = (root: string) => pluginCases(root, { limits: { setupTimeoutMs: 1_000, startTimeoutMs: 300, stopTimeoutMs: 300 } });

test("a plugin that keeps the contract passes every case", async () => {
  expect(await failing(casesOf(await write("good", {})))).toEqual([]);
});

test("a plugin whose amounts are written with their unit and range passes every case", async () => {
  const keep = {
    anyOf: [{ type: "integer", minimum: 0, maximum: 60_000 }, { type: "string" }],
    amount: { unit: "ms", min: 0, max: 60_000 },
  };
  const manifest = { configSchema: { ...schema, properties: { prefix: schema.properties.prefix, keep } } };
  const config = 'z.strictObject({ prefix: z.string().default("> "), keep: durationMs(0, 60_000).optional() })';
  expect(await failing(casesOf(await write("amounts", { manifest, config })))).toEqual([]);
});

const row = { message: "no echo", http: 503, rpc: "UNAVAILABLE" };
const withErrors = (written: object): Sample => ({
  manifest: { protocol: "protocol.ts" },
  files: {
    "protocol.ts": `import { defineErrors } from "svc/sdk";
export default { errors: [defineErrors({ "sample-mute": ${JSON.stringify(row)} })] };
`,
    "svc.protocol.json": `${JSON.stringify({ methods: {}, errors: written }, null, 2)}\n`,
  },
});

test("a plugin whose errors are written beside its manifest passes every case", async () => {
  expect(await failing(casesOf(await write("errors", withErrors({ "sample-mute": row }))))).toEqual([]);
});

test.each<[string, Sample, string]>([
  ["has an unknown manifest field", { manifest: { nonsense: 1 } }, "its manifest is valid"],
  ["needs another API", { manifest: { svc: { api: "^9.0.0" } } }, "its API range includes this host"],
  ["lets everybody write", { mode: 0o777 }, "its files can be trusted"],
  ["has no README", { readme: null }, "its README names it and each permission it asks for"],
  ["asks for a permission in silence", { manifest: { permissions: ["net"] } }, "its README names it and each permission it asks for"],
  ["has code of another id", { id: "other" }, "its entry is a definition of the manifest's id and version"],
  ["has no entry", { manifest: { entry: "nowhere.ts" } }, "its entry is a definition of the manifest's id and version"],
  [
    "has drifted from its schema",
    { config: "z.strictObject({ suffix: z.string() }).partial()" },
    "its configSchema is what its config says",
  ],
  ["announces a protocol that its code has not", { manifest: { protocol: "index.ts" } }, "its svc.protocol.json is what its protocol says"],
  ["has an error that is not written", withErrors({}), "its svc.protocol.json is what its protocol says"],
  ["throws in setup", { setup: 'throw new Error("no");' }, "it loads and registers only what it declares"],
  ["hangs in setup", { setup: "await new Promise(() => {});" }, "it loads and registers only what it declares"],
  [
    "registers what it does not declare",
    { setup: 'ctx.registerTool({ name: "more", description: "", input: z.object({}), run: () => "" });' },
    "it loads and registers only what it declares",
  ],
  [
    "shows a panel that cannot be drawn",
    {
      setup: `ctx.registerUiPanel({ id: "odd", label: "Odd", surface: "tab", kind: "data", load: async () => ({ title: "Odd", blocks: [{ kind: "html" }] }) });`,
    },
    "it loads and registers only what it declares",
  ],
  [
    "shows a frame without a page",
    { setup: 'ctx.registerUiPanel({ id: "frame", label: "Frame", surface: "tab", kind: "frame" });' },
    "it loads and registers only what it declares",
  ],
  ["leaves a timer running", { setup: "opened.push(setInterval(() => {}, 60_000));" }, "two lives leave nothing behind"],
  ["leaves a server listening", { setup: 'opened.push(createServer().listen(0, "127.0.0.1"));' }, "two lives leave nothing behind"],
  ["hangs in stop", { setup: "return { stop: () => new Promise(() => {}) };" }, "two lives leave nothing behind"],
  [
    "opens in setup what only stop closes",
    { setup: "const t = setInterval(() => {}, 60_000); opened.push(t); return { stop: () => clearInterval(t) };" },
    "a throw at the end of its setup is contained and undone",
  ],
  ["takes any config", { config: "z.object({ prefix: z.string().default('> ') })" }, "its configSchema is what its config says"],
])("a plugin that %s fails the case that says so", async (name, sample, expected) => {
  const root = await write(name.replaceAll(" ", "-"), sample);

  expect(await outcomeOf(casesOf(root), expected)).toEqual(expect.any(String));
});
