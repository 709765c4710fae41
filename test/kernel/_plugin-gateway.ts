import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginRecord, PluginReload } from "svc/sdk";
import { createTestGateway, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { afterEach, beforeEach } from "vitest";
import { writePlugin } from "./_plugins.ts";

type Written = Parameters<typeof writePlugin>[2];

/** A gateway whose plugins are written by the test; both are gone after it. */
export interface PluginGateway {
  /** Writes or rewrites a plugin; resolves to its folder. */
  write(id: string, plugin: Written): Promise<string>;
  start(options: TestGatewayOptions): Promise<TestGateway>;
  readonly gateway: TestGateway;
  /** Where plugin folders are written. */
  readonly root: string;
  record(id: string): PluginRecord;
  reload(id: string): Promise<PluginReload>;
  /** Method without parameters whose answer is what its handler returns. */
  ask<T = unknown>(method: string): Promise<T>;
}

export function usePluginGateway(): PluginGateway {
  let root = "";
  let gateway: TestGateway | undefined;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "svc-plugins-"));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await rm(root, { recursive: true, force: true });
  });
  const own: PluginGateway = {
    write: (id, plugin) => writePlugin(root, id, plugin),
    async start(options) {
      gateway = await createTestGateway(options);
      return gateway;
    },
    get gateway() {
      if (!gateway) throw new Error("not started");
      return gateway;
    },
    get root() {
      return root;
    },
    record(id) {
      const found = own.gateway.gateway.plugins().find((p) => p.id === id);
      if (!found) throw new Error(`no plugin ${id}`);
      return found;
    },
    async reload(id) {
      const { results } = await own.gateway.rpc<{ results: PluginReload[] }>("plugins.reload", { plugins: [{ pluginId: id }] });
      return results[0] as PluginReload;
    },
    ask: async <T>(method: string) => (await own.gateway.rpc<{ value: T }>(method)).value,
  };
  return own;
}

/** Body line that registers a method without parameters; `code` is an expression of its value. */
export function method(name: string, code: string): string {
  return `ctx.registerRpc({ method: ${JSON.stringify(name)}, scope: "read", params: z.strictObject({}), handler: async (_, call) => ({ value: ${code} }) });`;
}
