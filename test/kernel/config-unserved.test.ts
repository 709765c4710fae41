import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestGateway, eventually } from "svc/sdk/testing";
import { describe, expect, onTestFinished, test } from "vitest";

const unserved = {
  meta: { lastTouchedVersion: "1" },
  models: { mode: "replace" as const },
  gateway: { controlUi: { root: "./page" } },
  agents: { defaults: { heartbeat: { directPolicy: "block" as const } } },
};
const names = ["gateway.controlUi.root", "meta.lastTouchedVersion", "models.mode", "agents.defaults.heartbeat.directPolicy"];

async function gatewayWith(config: object, plugins: string[] = []) {
  const gateway = await createTestGateway({ plugins, config });
  onTestFinished(() => gateway.close());
  const file = join(gateway.stateDir, "svc.json");
  return {
    gateway,
    file,
    written: async () => JSON.parse(await readFile(file, "utf8")) as Record<string, object>,
    warnings: () => gateway.logs.filter(({ level }) => level === "warn").map(({ message }) => message),
    hash: async () => (await gateway.rpc<{ hash: string }>("config.get")).hash,
  };
}

describe("a gateway whose file holds keys that are not part of this release", () => {
  test("starts without them, with the plugin that will own one, and says so in the log and in status", async () => {
    const { gateway, warnings } = await gatewayWith(unserved, ["agents", "store"]);

    const { plugins } = await gateway.rpc<{ plugins: Array<{ id: string; runtime?: { state: string } }> }>("plugins.list");
    expect(plugins.find(({ id }) => id === "agents")?.runtime).toMatchObject({ state: "active" });
    const { config, warnings: told } = await gateway.rpc<{ config: Record<string, object>; warnings: Array<{ path: string }> }>(
      "config.get",
    );
    expect(config).not.toHaveProperty("meta");
    expect(config.models).not.toHaveProperty("mode", "replace");
    expect(told.map(({ path }) => path)).toEqual(expect.arrayContaining(names));

    const summary = expect.stringMatching(
      /^4 keys or values are not part of this release, and the gateway runs without: .*meta\.lastTouchedVersion/,
    );
    expect(warnings()).toContainEqual(expect.stringMatching(/^config: 4 keys or values are not part of this release/));
    const status = await gateway.rpc<{ ok: boolean; problems?: Record<string, string> }>("status");
    expect(status).toMatchObject({ ok: true, problems: { config: summary } });
  });

  test("takes over the rest of a changed file, and says what it runs without", async () => {
    const { gateway, file, written, warnings } = await gatewayWith({});
    await writeFile(file, JSON.stringify({ ...(await written()), meta: { lastTouchedVersion: "1" }, logging: { level: "debug" } }));

    expect(await gateway.gateway.reload("rpc")).toMatchObject({ status: "applied", changedPaths: ["logging.level"] });
    expect(warnings()).toContainEqual(
      expect.stringContaining("not part of this release, and the gateway runs without: meta.lastTouchedVersion"),
    );
    await eventually(async () => "config" in ((await gateway.rpc<{ problems?: object }>("health")).problems ?? {}));

    const { meta: _, ...rest } = await written();
    await writeFile(file, JSON.stringify(rest));
    await gateway.gateway.reload("rpc");
    await eventually(async () => !("config" in ((await gateway.rpc<{ problems?: object }>("health")).problems ?? {})));
  });

  test("needs neither the variables nor the secrets that only such a key names", async () => {
    const { gateway, warnings } = await gatewayWith({
      meta: { lastTouchedVersion: "${NOWHERE}", lastTouchedBy: { source: "file", provider: "none", id: "/x" } },
    });
    expect(warnings().filter((text) => text.includes("meta."))).toEqual([expect.stringContaining("not part of this release")]);
    expect((await gateway.rpc<{ secrets: { unavailable: unknown[] } }>("health")).secrets.unavailable).toEqual([]);
  });
});

describe("a write that brings such a key is refused", () => {
  test.each(["config.patch", "config.set", "config.apply"])("by %s, and the file stays as it was", async (method) => {
    const { gateway, file, written, hash } = await gatewayWith({});
    const before = await readFile(file, "utf8");
    const value =
      method === "config.patch" ? { meta: { lastTouchedVersion: "1" } } : { ...(await written()), meta: { lastTouchedVersion: "1" } };
    const attempt = gateway.rpc(method, { raw: JSON.stringify(value), baseHash: await hash() });
    await expect(attempt).rejects.toThrow("meta.lastTouchedVersion: not part of this release");
    expect(await readFile(file, "utf8")).toBe(before);
  });

  test("and one that leaves those of the file alone, or takes one out, is not", async () => {
    const { gateway, hash } = await gatewayWith(unserved);
    const patch = async (value: object) => gateway.rpc("config.patch", { raw: JSON.stringify(value), baseHash: await hash() });
    await expect(patch({ logging: { level: "debug" } })).resolves.toMatchObject({ ok: true });
    await expect(patch({ meta: null })).resolves.toMatchObject({ ok: true });
    await expect(patch({ session: { scope: "global" } })).rejects.toThrow('session.scope: "global" is not part of this release');
  });
});
