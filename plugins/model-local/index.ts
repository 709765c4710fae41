import { type Disposable, definePlugin, type PluginContext } from "svc/sdk";
import { localFindings } from "./doctor.ts";
import { createLocalModelProvider, type LocalModelProvider } from "./provider.ts";
import { type LocalSettings, resolveLocal } from "./settings.ts";

/** Chat with models on this machine: the provider `local`. */
export default definePlugin({
  id: "model-local",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const models = followConfig(ctx as PluginContext);
    ctx.onDispose(() => models.close());
    models.update();
    ctx.onReload({
      prefixes: ["models.providers", "agents.defaults.models"],
      prepare: async () => ({ apply: () => models.update(), discard: () => undefined }),
    });
    ctx.on("doctor.collect", async (_event, meta) => {
      for (const finding of await models.findings()) meta.report(finding);
    });
  },
});

/** The provider of the config in force; a change of its entry replaces it. */
function followConfig(ctx: PluginContext) {
  const base = ctx.service("gateway@1").info().stateDir;
  // Loaded by its first use, and only where models are configured.
  const runtime = () => ctx.service("local-runtime@1");
  let current: { settings: LocalSettings; local: LocalModelProvider; registration: Disposable } | undefined;
  const drop = async (): Promise<void> => {
    const old = current;
    current = undefined;
    await old?.registration.dispose();
    await old?.local.close();
  };
  return {
    update() {
      const settings = resolveLocal(ctx.snapshot(), base);
      if (JSON.stringify(settings) === JSON.stringify(current?.settings)) return;
      void drop();
      if (!settings) return;
      for (const problem of settings.problems) ctx.logger.warn(problem);
      const local = createLocalModelProvider(settings, runtime);
      current = { settings, local, registration: ctx.registerModelProvider(local.provider) };
    },
    findings: async () => (current ? localFindings(current.settings) : []),
    close: drop,
  };
}
