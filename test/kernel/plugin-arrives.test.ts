import { join } from "node:path";
import { expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { writePlugin } from "./_plugins.ts";

const own = usePluginGateway();
const setup = method("late.word", '"here"');

test("plugins.setEnabled finds a folder that was put there while the gateway runs", async () => {
  const gateway = await own.start({ plugins: [] });
  await writePlugin(join(gateway.workspace, ".svc", "plugins"), "late", { setup });

  expect(await gateway.rpc("plugins.setEnabled", { pluginId: "late", enabled: true })).toMatchObject({ ok: true, warnings: [] });

  expect(await own.ask("late.word")).toBe("here");
  await expect(gateway.rpc("plugins.setEnabled", { pluginId: "never", enabled: true })).rejects.toThrow("plugin not installed: never");
});

test("an entry of the config finds it too, and so does one for a plugin that comes later still", async () => {
  const gateway = await own.start({ plugins: [] });
  await writePlugin(join(gateway.stateDir, "plugins"), "late", { setup });

  await gateway.reload({ plugins: { entries: { late: { enabled: true } } } });
  expect(await own.ask("late.word")).toBe("here");

  await gateway.reload({ plugins: { entries: { late: { enabled: true }, later: { enabled: true } } } });
  expect(own.gateway.gateway.plugins().map((p) => p.id)).not.toContain("later");
  await writePlugin(join(gateway.stateDir, "plugins"), "later", { setup: method("later.word", '"too"') });
  await gateway.rpc("plugins.setEnabled", { pluginId: "later", enabled: true });
  expect(await own.ask("later.word")).toBe("too");
});

test("an installed plugin takes the place of the folder that plugins.dev runs, even with the same bytes; plugins.dev takes it back", async () => {
  const where = method("twin.where", "(ctx.root.includes('dev-copy') ? 'dev' : 'installed')");
  const dev = await writePlugin(join(own.root, "dev-copy"), "twin", { setup: where });
  const gateway = await own.start({ plugins: [] });
  await gateway.rpc("plugins.dev", { path: dev });
  expect(await own.ask("twin.where")).toBe("dev");

  await writePlugin(join(gateway.stateDir, "plugins"), "twin", { setup: where });
  await gateway.reload({ plugins: { entries: { twin: { enabled: true } } } });
  expect(await own.ask("twin.where")).toBe("dev");

  await gateway.rpc("plugins.reload", { plugins: [{ pluginId: "twin", installed: true }] });
  expect(await own.ask("twin.where")).toBe("installed");
  expect(own.record("twin")).toMatchObject({ state: "active", origin: "global" });

  await gateway.rpc("plugins.dev", { path: dev });
  expect(await own.ask("twin.where")).toBe("dev");
});
