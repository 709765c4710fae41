import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { readLockedPackages, vendorStateFolder } from "../../kernel/process/vendor-packages.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { usePluginGateway } from "./_plugin-gateway.ts";

vi.setConfig({ testTimeout: 60_000 });

const own = usePluginGateway();

async function write(path: string, content: object | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** A plugin with a tool that says what its own package says, and where that stands. */
async function plugin(): Promise<string> {
  const load = `const { word } = await ctx.vendor.load("dep"); return word + " " + (await ctx.vendor.resolve("dep"));`;
  const setup = `ctx.registerTool({ name: "word", description: "", input: z.object({}), run: async () => { ${load} } });`;
  const folder = await own.write("owner", { manifest: { contributes: { tools: ["word"] } }, setup });
  await write(join(folder, "vendor/package.json"), { dependencies: { dep: "1.0.0" } });
  await write(join(folder, "vendor/package-lock.json"), { packages: { "node_modules/dep": { version: "1.0.0" } } });
  return folder;
}

const say = async () => {
  const run = own.gateway.service("agents@1").invokeTool("word", {}, {
    agentId: "main",
    sessionKey: "agent:main:main",
    actor: { kind: "operator", scopes: ["operator.admin"] },
    signal: new AbortController().signal,
  } as never);
  return run.then(JSON.stringify, (error: Error) => error.message);
};

test.each([undefined, "worker", "process"] as const)(
  "a plugin with isolation %s asks for a package of its own, is told the command, and finds it once it is installed",
  async (isolation) => {
    const folder = await plugin();
    const config = { plugins: { entries: { owner: { enabled: true, ...(isolation ? { isolation } : {}) } } } };
    const gateway = await own.start({ plugins: ["store", "agents", folder], config, stragglerMs: 60_000 });
    // The limit of a call covers the start of a guest; on a busy machine the start may outlast it.
    const asked = await eventually(async () => {
      const text = await say();
      return text.includes("package") && text;
    }, 30_000);
    expect(asked).toContain("is not installed; run: svc plugins add-packages owner");

    const hash = (await readLockedPackages(folder))?.hash ?? "";
    const place = join(vendorStateFolder(gateway.stateDir, "owner"), hash, "node_modules/dep");
    await write(join(place, "index.js"), `export const word = "here";`);
    await write(join(place, "package.json"), { name: "dep", version: "1.0.0", type: "module", exports: "./index.js" });
    expect(await say()).toContain(`here file://${place}`);
  },
);
