import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { createGateway } from "../../kernel/boot/gateway.ts";
import type { Gateway } from "../../kernel/boot/running-gateway.ts";
// The config of a test gateway has the gateway's own sections, too.
import "../../kernel/config/root-schema.ts";
import { createLogger, type LogRecord } from "../../kernel/process/logger.ts";
import { resolvePaths } from "../../kernel/process/paths.ts";
import { createClient } from "../client/index.ts";
import type { SvcConfigInput } from "../config/root.ts";
import { definePlugin } from "../define.ts";
import type { LogLevel } from "../log-levels.ts";
import type { Clock } from "../types/common.ts";
import type { PluginDefinition } from "../types/context.ts";
import type { ModelProvider } from "../types/model.ts";
import type { ReloadOutcome } from "../types/reload.ts";
import type { Services } from "../types/services.ts";
import type { FakeClock } from "./fake-clock.ts";
import { importBundled } from "./import-bundled.ts";
import { type InlinePlugin, writeInlinePlugins } from "./inline-plugins.ts";
import { trackGateway } from "./leaks.ts";
import type { HttpRecorder } from "./record-http.ts";
import { TEST_TOKEN, testConfig } from "./test-config.ts";
import { createTestSocket, type TestSocket } from "./test-socket.ts";
import { throwWireFaults, watchClient } from "./wire-check.ts";

/** Options of a test gateway; everything has a default. */
export interface TestGatewayOptions {
  /** Ids of bundled plugins, absolute folders of others, or definitions that stand in the test; default: all bundled ones. */
  // biome-ignore lint/suspicious/noExplicitAny: a definition of any config type
  plugins?: ReadonlyArray<string | PluginDefinition<any> | InlinePlugin>;
  config?: SvcConfigInput;
  /** Model providers that stand in the test, such as `fakeModel([...])`; the first answers where no model is configured. */
  models?: readonly ModelProvider[];
  /** Clock behind `ctx.clock`; a `fakeClock()` drives `ctx.timers` too. */
  clock?: Clock | FakeClock;
  /** Memory that the gateway takes itself to use, and its limit; default: nobody watches it. */
  memory?: { rssBytes(): number; limitBytes: number; minUptimeMs?: number };
  /** Takes every `ctx.fetch` and `ctx.request` of the plugins. */
  http?: HttpRecorder;
  /** Files of the default agent's workspace, by relative path. */
  workspace?: Record<string, string>;
  /** A state directory to continue with; default: a fresh temporary one, removed by `close`. */
  stateDir?: string;
  env?: Record<string, string | undefined>;
  /** Time boot waits for slow plugins; a test with a plugin that hangs makes it short. */
  stragglerMs?: number;
  /** Least level of `logs`; default `info`. */
  logLevel?: LogLevel;
  /** First pause of a plugin that asks to be tried later; default 5 s. */
  retryMs?: number;
}

type Client = ReturnType<typeof createClient>;
type ClientOptions = Partial<Parameters<typeof createClient>[0]>;

/** A running gateway of a test: the real kernel on a free port. */
export interface TestGateway {
  readonly url: string;
  readonly wsUrl: string;
  readonly token: string;
  readonly stateDir: string;
  readonly workspace: string;
  readonly logs: LogRecord[];
  readonly gateway: Gateway;
  service<K extends keyof Services>(name: K): Services[K];
  /** One request as an operator with every scope. */
  rpc<T = Record<string, unknown>>(method: string, params?: Record<string, unknown>): Promise<T>;
  /** `fetch` on the gateway with its bearer token. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A connected protocol client; by default an administrator with cap `tool-events`. Closed by `close`. */
  client(options?: ClientOptions): Promise<Client>;
  /** A connected client that remembers its events and can wait for one. Closed by `close`. */
  ws(options?: ClientOptions): Promise<TestSocket>;
  /** Writes this config in place of the running one and waits until the gateway has taken it, or refused it. */
  reload(config: SvcConfigInput): Promise<ReloadOutcome>;
  /** Stops the gateway; a temporary state directory goes with it unless `keepState`. */
  close(options?: { keepState?: boolean }): Promise<void>;
}

const allScopes = ["operator.admin", "operator.approvals", "operator.pairing", "operator.read", "operator.write"];

/** Boots the real kernel and loader on a free port with a state directory of its own. Resolves when boot has settled. */
export async function createTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), `svc-test-${process.pid}-`)));
  const workspace = join(stateDir, "workspace");
  await writeWorkspace(workspace, options.workspace ?? {});
  const setup = await createSetup(options);
  const configFile = join(stateDir, "svc.json");
  await writeFile(configFile, JSON.stringify(await setup.config(options.config ?? {})));
  const removeFiles = async () => {
    await setup.remove();
    if (!options.stateDir) await rm(stateDir, { recursive: true, force: true });
  };
  const logs: LogRecord[] = [];
  const gateway = await boot(options, stateDir, logs).catch(async (error: unknown) => {
    await removeFiles();
    throw error;
  });
  const untrack = trackGateway(stateDir);
  const url = `http://127.0.0.1:${gateway.port}`;
  const clients = createClients(`ws://127.0.0.1:${gateway.port}`);
  let shared: Promise<Client> | undefined;

  return {
    url,
    wsUrl: `ws://127.0.0.1:${gateway.port}`,
    token: TEST_TOKEN,
    stateDir,
    workspace,
    logs,
    gateway,
    service: gateway.service,
    async rpc<T>(method: string, params: Record<string, unknown> = {}): Promise<T> {
      shared ??= clients.open({});
      return (await (await shared).request(method as never, params as never)) as T;
    },
    fetch: (path, init = {}) => fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${TEST_TOKEN}`, ...init.headers } }),
    client: (own = {}) => clients.open(own),
    ws: async (own = {}) => createTestSocket(await clients.open(own)),
    async reload(config) {
      await writeFile(configFile, JSON.stringify(await setup.config(config)));
      return gateway.reload("rpc");
    },
    async close(closing = {}) {
      await clients.close();
      await gateway.close("test over");
      untrack();
      if (closing.keepState) await setup.remove();
      else await removeFiles();
      throwWireFaults();
    },
  };
}

async function boot(options: TestGatewayOptions, stateDir: string, logs: LogRecord[]): Promise<Gateway> {
  const env = { SVC_GATEWAY_PORT: "0", ...options.env, SVC_STATE_DIR: stateDir, SVC_CONFIG_PATH: undefined };
  const gateway = await createGateway({
    paths: resolvePaths({ env }),
    env,
    version: "0.0.0-test",
    logger: createLogger([(record) => logs.push(record)], Date.now, () => options.logLevel ?? "info"),
    stragglerMs: options.stragglerMs,
    retryMs: options.retryMs,
    importBundled,
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.memory ? { memory: options.memory } : {}),
    ...(options.http ? { fetch: options.http.fetch, request: options.http.request } : {}),
  });
  try {
    await gateway.ready;
    return gateway;
  } catch (error) {
    await gateway.close("boot failed");
    throw error;
  }
}

/** Sorts what `plugins` names, and writes what stands in the test to disk, where the loader finds it. */
async function createSetup(options: TestGatewayOptions) {
  const inline: InlinePlugin[] = options.models?.length ? [{ definition: modelsPlugin(options.models) }] : [];
  const named: string[] = [];
  for (const plugin of options.plugins ?? []) {
    if (typeof plugin === "string") named.push(plugin);
    else inline.push("definition" in plugin ? plugin : { definition: plugin });
  }
  const written = await writeInlinePlugins(inline);
  return {
    remove: written.remove,
    config: (config: SvcConfigInput) =>
      testConfig({
        config,
        bundled: options.plugins && named.filter((name) => !isAbsolute(name)),
        folders: named.filter((name) => isAbsolute(name)),
        inline: inline.map(({ definition }) => definition.id),
        inlinePaths: written.paths,
      }),
  };
}

function modelsPlugin(models: readonly ModelProvider[]): PluginDefinition {
  return definePlugin<unknown>({
    id: "test-models",
    version: "1.0.0",
    svc: { api: "*" },
    setup(ctx) {
      for (const model of models) ctx.registerModelProvider(model);
    },
  });
}

function createClients(url: string) {
  const open = new Set<Client>();
  return {
    async open(own: ClientOptions): Promise<Client> {
      const client = watchClient(
        createClient({
          url,
          auth: { token: TEST_TOKEN },
          client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
          scopes: allScopes,
          caps: ["tool-events"],
          ...own,
        }),
      );
      open.add(client);
      await client.connect();
      return client;
    },
    async close(): Promise<void> {
      for (const client of open) await client.close();
    },
  };
}

async function writeWorkspace(root: string, files: Record<string, string>): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
