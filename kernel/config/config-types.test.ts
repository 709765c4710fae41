import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { composeConfigSchema } from "./compose-schema.ts";
import { configTypes } from "./config-types.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const { schema } = composeConfigSchema([
  {
    id: "my-plugin",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    configSchema: {
      type: "object",
      properties: {
        city: { type: "string", description: "Ends */ here" },
        "odd key": { type: ["integer", "null"] },
        way: { $ref: "#/$defs/way" },
      },
      required: ["city"],
      additionalProperties: false,
      $defs: { way: { enum: ["up", "down"] } },
    },
    channelConfigs: { irc: { type: "object", properties: { nick: { type: "string" } }, additionalProperties: false } },
  },
  { id: "my.plugin", version: "1.0.0", svc: { api: "^1.0.0" } },
]);
const { dts, json } = configTypes({ schema });

/** Messages of the type checker for a config file written against the declarations. */
function check(body: string): string {
  const dir = mkdtempSync(join(tmpdir(), "svc-types-"));
  try {
    writeFileSync(join(dir, "svc-config.d.ts"), dts);
    writeFileSync(join(dir, "use.ts"), `import type { SvcConfig, ChannelIrcConfig } from "./svc-config.js";\n${body}\n`);
    const flags = [
      "--ignoreConfig", // of a folder above the temporary one
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      "--skipLibCheck",
      "false",
      "--module",
      "nodenext",
      "--types",
      "",
    ];
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...flags, "use.ts"], { cwd: dir, encoding: "utf8" });
    return "";
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test("the declarations take a real config", () => {
  const config = `
    export const config: SvcConfig = {
      gateway: { mode: "local", port: 18789, auth: { token: { source: "env", id: "TOKEN" } }, shutdown: { drainMs: "20s" } },
      agents: { defaults: { model: { primary: "a/b" } }, list: [{ id: "ops", tools: { profile: "full" } }] },
      plugins: { entries: { "my-plugin": { config: { city: "Oslo", "odd key": null, way: "up" } } } },
      channels: { irc: { nick: "svc", enabled: true, accounts: { work: { nick: "w" } } } },
      env: { vars: { A: "b" } },
    };
    export const channel: ChannelIrcConfig = { nick: "svc" };`;
  expect(check(config)).toBe("");
});

test("the declarations refuse a wrong one", () => {
  const messages = check(`
    export const a: SvcConfig = { gateway: { prot: 1 } };
    export const b: SvcConfig = { gateway: { bind: "wan" } };
    export const c: NonNullable<NonNullable<SvcConfig["plugins"]>["entries"]>["my-plugin"] = { config: { city: 5 } };
    export const d: ChannelIrcConfig = { nik: "svc" };
    export const e: SvcConfig = { meta: { lastTouchedVersion: "1" } };`);
  for (const line of [3, 4, 5, 6, 7]) expect(messages).toContain(`use.ts(${line},`);
});

test("each plugin and channel has an interface of its own, also where two ids make one name", () => {
  const names = [...dts.matchAll(/^export (?:interface|type) (\w+)/gm)].map((match) => match[1]);
  expect(names).toEqual(["SvcConfig", "PluginMyPluginConfig", "PluginMyPluginConfig2", "ChannelIrcConfig", "PluginMyPluginWay"]);
  expect(dts).toContain("/** Ends *\\/ here */");
});

test("the schema file is the composed schema", () => {
  expect(JSON.parse(json)).toEqual(schema);
});
