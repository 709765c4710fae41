import { isAbsolute } from "node:path";
import { commonErrors } from "../../../sdk/errors.ts";
import { sharedErrors } from "../../../sdk/internal/errors.ts";
import { createReplays } from "../../../sdk/internal/replays.ts";
import { methodOf } from "../../../sdk/protocol/methods/spec.ts";
import { protocolMethods } from "../../../sdk/protocol/methods.ts";
import type { PluginCandidate } from "../../../sdk/types/plugin-candidate.ts";
import type { PluginReload } from "../../../sdk/types/plugin-record.ts";
import type { RpcMethod } from "../../../sdk/types/rpc.ts";
import type { Services } from "../../../sdk/types/services.ts";
import type { UiPanel } from "../../../sdk/types/ui-panel.ts";
import { kernelErrors } from "../../errors.ts";
import type { HookBus } from "../../hooks/bus.ts";
import type { Contributions } from "../../loader/contributions.ts";
import type { Loader } from "../../loader/loader.ts";
import { declaredBy, toPluginRow } from "../../loader/plugin-summary.ts";
import { toUiDescriptor } from "../../loader/ui-panels.ts";
import type { MethodRegistry } from "./registry.ts";

export interface PluginMethodDeps {
  loader: Loader;
  hooks: HookBus;
  contributions: Contributions;
  mayWriteConfig: boolean;
  /** Looks at a folder and, when it holds a plugin, finds it there for the rest of this run. */
  addPath(path: string): Promise<PluginCandidate>;
  /** Forgets the folders of a plugin that were added so. */
  dropPaths(id: string): void;
  /** Loads a plugin that waits for its first use. */
  useOf(id: string): Promise<void> | undefined;
  /** Lets a plugin load again that ended a gateway by blocking its event loop. */
  lift(id: string): Promise<void>;
}

interface PluginMethodParts extends PluginMethodDeps {
  add<P>(method: Omit<RpcMethod<P>, "handler">, handler: RpcMethod<P>["handler"]): void;
  config(): Services["config@1"] | undefined;
  /** @throws {SvcError} `plugin-not-installed` */
  known(id: string): NonNullable<ReturnType<Loader["find"]>>;
  row(id: string): ReturnType<typeof toPluginRow>;
}

/** `plugins.*`: what is there, and changing it while the gateway runs. */
export function registerPluginMethods(methods: MethodRegistry, deps: PluginMethodDeps): void {
  const { loader, hooks, contributions } = deps;
  const known = (id: string) => {
    const found = loader.find(id);
    if (!found) throw sharedErrors.pluginNotInstalled({ id });
    return found;
  };
  const parts: PluginMethodParts = {
    ...deps,
    add: (method, handler) => void methods.add({ ...method, handler } as RpcMethod, "kernel"),
    config: () => contributions.view<Services["config@1"]>("service").get("config@1")?.value,
    known,
    row(id) {
      const { candidate, record } = known(id);
      return toPluginRow(record, candidate, hooks.records(id));
    },
  };
  registerReading(parts);
  registerChanging(parts);
}

function registerReading({ add, loader, hooks, contributions, config, known, row, mayWriteConfig }: PluginMethodParts): void {
  add(methodOf(protocolMethods, "plugins.list"), () => ({
    plugins: loader.records().map((record) => {
      const found = loader.find(record.id);
      return toPluginRow(
        record,
        found?.record === record ? found.candidate : undefined,
        found?.record === record ? hooks.records(record.id) : [],
      );
    }),
    diagnostics: loader.records().flatMap((p) => p.diagnostics.map((d) => ({ pluginId: p.id, ...d }))),
    mutationAllowed: mayWriteConfig && config() !== undefined,
    generation: loader.generation(),
  }));
  add(methodOf(protocolMethods, "plugins.inspect"), ({ pluginId }: { pluginId: string }) => {
    const { candidate } = known(pluginId);
    const { manifest, root, origin } = candidate;
    return {
      ok: true,
      plugin: row(pluginId),
      source: { origin, root, installed: candidate.installed === true, entry: candidate.entry },
      declared: declaredBy(manifest?.contributes, hooks.records(pluginId)),
      permissions: manifest?.permissions ?? [],
      configSchema: manifest?.configSchema,
      ...(manifest?.homepage ? { homepage: manifest.homepage } : {}),
    };
  });
  add(methodOf(protocolMethods, "plugins.uiDescriptors"), () => ({
    ok: true,
    descriptors: [...contributions.view<UiPanel>("uiPanel")].map(({ owner, value }) => toUiDescriptor(owner, value)),
  }));
}

function registerChanging(parts: PluginMethodParts): void {
  const { add, loader, known, row } = parts;
  const replays = createReplays({ monotonic: () => performance.now() });
  add(methodOf(protocolMethods, "plugins.setEnabled"), (p: { pluginId: string; enabled: boolean; idempotencyKey?: string }) =>
    replays.run(p.idempotencyKey, () => setEnabled(parts, p.pluginId, p.enabled)),
  );
  add(methodOf(protocolMethods, "plugins.reload"), async ({ plugins }: { plugins: Array<{ pluginId: string; installed?: boolean }> }) => {
    const results: PluginReload[] = [];
    for (const { pluginId, installed } of plugins) {
      if (installed) parts.dropPaths(pluginId);
      results.push(await loader.reload(pluginId));
    }
    return { pluginIds: results.filter((r) => r.status !== "failed").map((r) => r.id), restartRequired: needsRestart(results), results };
  });
  add(methodOf(protocolMethods, "plugins.dev"), async ({ path }: { path: string }) => {
    if (!isAbsolute(path)) throw kernelErrors.pluginNotLoadable({ path, reason: "expected an absolute path" });
    const { id, problem } = await parts.addPath(path);
    if (problem) throw kernelErrors.pluginNotLoadable({ path, reason: problem.reason });
    await parts.lift(id); // its author asks for this very code
    const reloaded = await loader.reload(id);
    await parts.useOf(id); // its author wants to see it run
    const { state, reason } = known(id).record;
    const result = state === "failed" && reloaded.error === undefined ? { ...reloaded, status: "failed", error: reason } : reloaded;
    return { ok: result.status !== "failed", result, plugin: row(id) };
  });
}

async function setEnabled({ loader, config, known, row, lift }: PluginMethodParts, pluginId: string, enabled: boolean) {
  // Its folder may have come while the gateway runs.
  if (!loader.find(pluginId)) await loader.rescan();
  known(pluginId);
  const writer = config();
  if (!writer) throw commonErrors.serviceUnavailable({ service: "config@1" });
  const patch = { plugins: { entries: { [pluginId]: { enabled } } } };
  const written = await writer.patch(patch, { note: `plugins.setEnabled ${pluginId}` });
  if (enabled) await lift(pluginId);
  const results = await loader.applyEntries([pluginId]);
  const { state, reason } = known(pluginId).record;
  const isOn = state !== "disabled" && state !== "blocked";
  return {
    ok: true,
    plugin: row(pluginId),
    restartRequired: written.action === "restart" || written.pendingRestart.length > 0 || needsRestart(results),
    warnings: isOn === enabled && state !== "failed" ? [] : [reason ?? `it is ${state}`],
  };
}

function needsRestart(results: readonly PluginReload[]): boolean {
  return results.some((r) => r.status === "restart-required");
}
