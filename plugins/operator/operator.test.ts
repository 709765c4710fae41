import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CliCommand, Manifest } from "svc/sdk";
import { createTestGateway } from "svc/sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openerFor } from "./cli/dashboard.ts";
import { parseParams } from "./cli/gateway-call.ts";
import { programName } from "./cli/gateway-hints.ts";
import { memoryLine } from "./cli/memory-line.ts";
import { pageUrl } from "./cli/page-url.ts";
import { capabilityOf } from "./cli/probe.ts";

describe("the manifest", () => {
  it("names every command with the module that exports it", async () => {
    const manifest = JSON.parse(await readFile(join(import.meta.dirname, "svc.plugin.json"), "utf8")) as Manifest;
    for (const { name, module } of manifest.cli ?? []) {
      const { default: exported } = (await import(join(import.meta.dirname, module))) as { default: CliCommand | CliCommand[] };
      expect([exported].flat().map((c) => c.path.join(" "))).toContain(name);
    }
    expect(manifest.contributes?.cli).toEqual(manifest.cli?.map((c) => c.name));
  });
});

describe("logs.tail", () => {
  const tailOf = async (plugins: string[]) => {
    const gateway = await createTestGateway({ plugins });
    onTestFinished(() => gateway.close());
    const { client } = await gateway.ws({ scopes: ["operator.admin"] });
    return () => client.request<{ file: string; lines: string[] }>("logs.tail", {});
  };

  it("answers the lines of the gateway's log file", async () => {
    const tail = await tailOf(["operator"]);
    const { file } = await tail();
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '{"msg":"ready"}\n');
    expect((await tail()).lines).toEqual(['{"msg":"ready"}']);
  });

  it("is no method of a gateway without this plugin", async () => {
    await expect((await tailOf([]))()).rejects.toThrow("unknown method");
  });
});

describe("gateway call --params", () => {
  it("takes a JSON object", () => {
    expect(parseParams('{"a":1}')).toEqual({ a: 1 });
    expect(parseParams(undefined)).toEqual({});
  });
  it.each(["[1]", "1", '"x"', "null", "{a:1}", ""])("refuses %s", (text) => {
    expect(() => parseParams(text)).toThrow("--params: expected a JSON object");
  });
});

it.each([
  [["operator.admin", "operator.read"], "admin_capable"],
  [["operator.read", "operator.write"], "write_capable"],
  [["operator.read"], "read_only"],
  [["operator.pairing"], "connect_only"],
  [[], "connect_only"],
])("scopes %j are %s", (scopes, capability) => expect(capabilityOf(scopes)).toBe(capability));

it.each([
  ["ws://127.0.0.1:18789", undefined, "http://127.0.0.1:18789/"],
  ["wss://gw.example", { gateway: {} }, "https://gw.example/"],
  ["ws://127.0.0.1:1", { gateway: { controlUi: { basePath: "/ui" } } }, "http://127.0.0.1:1/ui"],
  ["ws://127.0.0.1:1", { gateway: { controlUi: { enabled: false } } }, undefined],
])("the page behind %s with %j is %s", (url, config, page) => expect(pageUrl(url, config)).toBe(page));

it.each([
  ["darwin", {}, "open"],
  ["win32", {}, "rundll32"],
  ["linux", { DISPLAY: ":0" }, "xdg-open"],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, "xdg-open"],
  ["linux", {}, undefined],
] as const)("on %s with %j the opener is %s", (platform, env, command) => expect(openerFor(platform, env)?.command).toBe(command));

it.each([
  [{ script: "/usr/local/bin/svc", cwd: "/home/u" }, "svc"],
  [{ script: "/opt/svc/bin/svc.mjs", cwd: "/opt/svc" }, "node bin/svc.mjs"],
  [{ script: "/opt/svc/bin/start.mjs", cwd: "/opt/svc/bin" }, "node svc.mjs"],
  [{ script: "/opt/svc/bin/svc.mjs", cwd: "/home/u" }, "node /opt/svc/bin/svc.mjs"],
])("the program is called again by what works from there: %j", (at, name) => {
  const options = { ...at, packageRoot: "/opt/svc" };
  expect(programName({ ...options, profile: "" })).toBe(name);
  expect(programName({ ...options, profile: "dev" })).toBe(`${name} --profile dev`);
});

it.each([
  [{ main: { files: 30, chunks: 85, dirty: false } }, "30 files, 85 chunks"],
  [{ main: { files: 1, chunks: 1, dirty: true } }, "1 file, 1 chunk, not up to date"],
  [{ main: { files: 2, chunks: 3 }, work: {} }, "main: 2 files, 3 chunks; work: 0 files, 0 chunks"],
  [{}, undefined],
  [undefined, undefined],
])("memory figures %j read %s", (figures, line) => expect(memoryLine(figures)).toBe(line));
