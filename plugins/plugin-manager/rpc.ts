import { isAbsolute } from "node:path";
import { type ClientInfo, methodOf, type PluginContext, type SvcConfigInput } from "svc/sdk";
import { createReplays } from "svc/sdk/internal";
import { installErrors } from "./errors.ts";
import { permissionMeanings } from "./install/consent.ts";
import { type EntryChange, entryStep } from "./install/entry.ts";
import { type InstallHost, installPlugin } from "./install/install.ts";
import { uninstallPlugin } from "./install/uninstall.ts";
import { pluginManagerMethods } from "./protocol-methods.ts";

/** `plugins.install` and `plugins.uninstall`: what the commands do, for clients of a running gateway. A plugin arrives switched off. */
export function registerInstallMethods(ctx: PluginContext): void {
  const replays = createReplays({ monotonic: ctx.clock.monotonic });
  ctx.registerRpc({
    ...methodOf(pluginManagerMethods, "plugins.install"),
    handler: ({ source, replaceBundled = false, idempotencyKey }, { client }) =>
      replays.run(idempotencyKey, () => install(ctx, { spec: source, replaceBundled }, client)),
  });
  ctx.registerRpc({
    ...methodOf(pluginManagerMethods, "plugins.uninstall"),
    handler: ({ pluginId, keepConfig = false, idempotencyKey }) => replays.run(idempotencyKey, () => uninstall(ctx, pluginId, keepConfig)),
  });
}

async function install(ctx: PluginContext, request: { spec: string; replaceBundled: boolean }, { connId }: ClientInfo) {
  const { spec } = request;
  // Clients know nothing of the folder that the gateway was started in.
  if (!spec.startsWith("npm:") && !isAbsolute(spec))
    throw installErrors.pluginSourceInvalid({
      spec,
      reason: "expected npm:<name>[@<version>], or the absolute path of a folder or a .tgz file",
    });
  const plugins = ctx.service("plugins@1");
  const host: InstallHost = {
    installed: plugins.installed,
    cwd: ctx.stateDir,
    env: ctx.env,
    signal: ctx.signal,
    fileLock: plugins.withFileLock,
    inspect: plugins.inspect,
    isBundled: async (id) => plugins.isBundled(id),
    progress: (text) => ctx.emit("plugins.progress", { source: spec, text }, { only: (client) => client.connId === connId }),
  };
  const { accept, decided } = entryStep(entriesOf(ctx), { enabled: false, grantAll: false });
  const { manifest, record, replaced } = await installPlugin(request, host, accept);
  const { id, version, name = id, deprecated } = manifest;
  await plugins.takeUp(id);
  ctx.logger.info(`installed ${id} ${version} from ${record.source.spec}, switched off`, { integrity: record.integrity });
  return {
    ok: true,
    plugin: { id, version, name },
    permissions: decided.consents.map((one) => ({ ...one, about: permissionMeanings[one.permission] })),
    source: { kind: record.source.kind, spec: record.source.spec },
    integrity: record.integrity,
    ...(replaced === undefined ? {} : { replaced }),
    ...(deprecated === undefined ? {} : { deprecated }),
  };
}

async function uninstall(ctx: PluginContext, id: string, keepConfig: boolean) {
  const { installed, takeUp, withFileLock } = ctx.service("plugins@1");
  if (!Object.hasOwn((await installed.read()).plugins, id)) throw installErrors.pluginNotRecorded({ plugin: id, hint: "see plugins.list" });
  const entries = entriesOf(ctx);
  // Switched off first, so that the gateway lets go of it before its files go.
  await entries.write(id, { enabled: false });
  const version = await uninstallPlugin({ installed, fileLock: withFileLock }, id);
  if (!keepConfig) await entries.write(id, null);
  await takeUp(id);
  ctx.logger.info(`removed ${id} ${version}`);
  return { ok: true, plugin: { id, version } };
}

function entriesOf(ctx: PluginContext) {
  return {
    config: ctx.snapshot(),
    async write(id: string, change: EntryChange | null) {
      const patch = { plugins: { entries: { [id]: change } } } as unknown as SvcConfigInput;
      const replacePaths = change?.grants ? [`plugins.entries.${id}.grants`] : [];
      await ctx.service("config@1").patch(patch, { note: `plugins: ${id}`, replacePaths });
    },
    onWarning: (text: string) => ctx.logger.warn(text),
  };
}
