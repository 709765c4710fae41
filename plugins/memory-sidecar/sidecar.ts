import { join } from "node:path";
import { type MemoryBackend, type PluginContext, type SvcConfig, settledWithin } from "svc/sdk";
import type { BackendHost, SidecarBackend } from "./backend.ts";
import { isChosen, resolveSidecarSettings } from "./settings.ts";

/** The backend as it is offered, loaded when it is the chosen one. */
export interface Sidecar {
  readonly backend: MemoryBackend;
  /** Undefined while another backend is chosen. */
  opened(): SidecarBackend | undefined;
  /** Prepares for another config. @returns how to follow it */
  prepare(next: SvcConfig): Promise<() => void>;
  /** Waits for the refreshes that the start of the gateway is to wait for. */
  start(): Promise<void>;
}

/** The start of a plugin has 30 s; what takes longer keeps the gateway from being ready. */
const START_MS = 20_000;

/** Creates the backend, with its code when `memory.backend` is `sidecar`. */
export async function createSidecar(ctx: PluginContext): Promise<Sidecar> {
  const { stateDir } = ctx.service("gateway@1").info();
  let backend: SidecarBackend | undefined;
  let loading: Promise<SidecarBackend> | undefined;
  let followed: SvcConfig | undefined;
  /** The memory may ask with a new config before this plugin was told of it. */
  const follow = (config: SvcConfig) => {
    if (config === followed) return;
    followed = config;
    backend?.reconfigure(resolveSidecarSettings(config, stateDir));
  };
  const open = async () => {
    const { createSidecarBackend } = await import("./backend.ts");
    followed = ctx.snapshot();
    backend = createSidecarBackend(createHost(ctx, stateDir), resolveSidecarSettings(followed, stateDir));
    return backend;
  };
  const load = async () => {
    loading ??= open();
    const loaded = await loading;
    follow(ctx.snapshot());
    return loaded;
  };
  if (isChosen(ctx.snapshot())) await load();
  return {
    backend: offered(load, () => backend),
    opened: () => backend,
    async prepare(next) {
      if (isChosen(next)) await load();
      return () => follow(ctx.snapshot());
    },
    async start() {
      if (backend && ctx.service("gateway@1").info().port !== 0) await startWith(ctx, backend);
    },
  };
}

/** Waits for first refreshes; `/readyz` answers 503 until they are over. */
async function startWith(ctx: PluginContext, backend: SidecarBackend): Promise<void> {
  if (!backend.settings.some(({ update }) => update.onBoot && update.waitForBootSync)) return;
  const gateway = ctx.service("gateway@1");
  gateway.setReadiness("memorySidecar", "the memory is refreshed first (memory.sidecar.update.waitForBootSync)");
  const boot = backend.boot().finally(() => gateway.setReadiness("memorySidecar", undefined));
  await settledWithin(boot, START_MS);
}

function offered(load: () => Promise<SidecarBackend>, present: () => SidecarBackend | undefined): MemoryBackend {
  return {
    id: "sidecar",
    search: async (...args) => (await load()).search(...args),
    get: async (...args) => (await load()).get(...args),
    status: async (...args) => (await load()).status(...args),
    sync: async (...args) => (await load()).sync(...args),
    reset: async (agentId) => (await load()).reset?.(agentId) ?? { removed: false },
    facts: (agentId) => present()?.facts?.(agentId) ?? {},
    mayAnswer: async (...args) => (await load()).mayAnswer?.(...args) ?? false,
    close: async () => present()?.close(),
  };
}

function createHost(ctx: PluginContext, stateDir: string): BackendHost {
  return {
    env: ctx.env,
    clock: ctx.clock,
    timers: ctx.timers,
    logger: ctx.logger,
    embedLock: join(stateDir, "sidecar", "embed.lock"),
    transcripts: (agentId) => (options) => ctx.service("memory@1").transcripts?.(agentId, options) ?? none(),
    async parentOf(sessionKey) {
      const row = await ctx.service("store@2").sessions.get(sessionKey);
      return row?.spawnedBy ?? row?.parentSessionKey;
    },
  };
}

async function* none(): AsyncGenerator<never> {
  // nobody offers transcripts
}
