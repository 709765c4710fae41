import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { createGateway, type Gateway } from "../../kernel/gateway.ts";
import { createClient } from "../client/index.ts";
import type { SvcConfigInput } from "../config/root.ts";
import { createLogger, type LogRecord } from "../host/logger.ts";
import { packageRoot, resolvePaths } from "../host/paths.ts";
import type { Services } from "../types/services.ts";

export interface TestGatewayOptions {
  /** Ids of bundled plugins, or absolute folders of others; default: all bundled ones. */
  plugins?: string[];
  config?: SvcConfigInput;
  /** Files of the default agent's workspace, by relative path. */
  workspace?: Record<string, string>;
  /** A state directory to continue with; default: a fresh temporary one, removed by `close`. */
  stateDir?: string;
  env?: Record<string, string | undefined>;
  /** How long boot waits for slow plugins; a test with a plugin that hangs makes it short. */
  stragglerMs?: number;
}

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
  client(options?: Partial<Parameters<typeof createClient>[0]>): Promise<ReturnType<typeof createClient>>;
  /** Stops the gateway; a temporary state directory goes with it unless `keepState`. */
  close(options?: { keepState?: boolean }): Promise<void>;
}

export const TEST_TOKEN = "test-token-5f2d9a";
const allScopes = ["operator.admin", "operator.approvals", "operator.pairing", "operator.read", "operator.write"];

/** Boots the real kernel and loader on a free port with a state directory of its own. Resolves when boot has settled. */
export async function createTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), "svc-test-")));
  const workspace = join(stateDir, "workspace");
  await writeWorkspace(workspace, options.workspace ?? {});
  await writeFile(join(stateDir, "svc.json"), JSON.stringify(await testConfig(options)));
  const logs: LogRecord[] = [];
  const env = { SVC_GATEWAY_PORT: "0", ...options.env, SVC_STATE_DIR: stateDir, SVC_CONFIG_PATH: undefined };
  const paths = resolvePaths({ env });
  const gateway = await createGateway({
    paths,
    env,
    version: "0.0.0-test",
    logger: createLogger([(record) => logs.push(record)]),
    stragglerMs: options.stragglerMs,
  });
  try {
    await gateway.ready;
  } catch (error) {
    await gateway.close("boot failed");
    if (!options.stateDir) await rm(stateDir, { recursive: true, force: true });
    throw error;
  }
  const url = `http://127.0.0.1:${gateway.port}`;
  const wsUrl = `ws://127.0.0.1:${gateway.port}`;
  const clients = new Set<ReturnType<typeof createClient>>();

  const client: TestGateway["client"] = async (own = {}) => {
    const made = createClient({
      url: wsUrl,
      auth: { token: TEST_TOKEN },
      client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
      scopes: allScopes,
      caps: ["tool-events"],
      ...own,
    });
    clients.add(made);
    await made.connect();
    return made;
  };
  let shared: ReturnType<typeof client> | undefined;

  return {
    url,
    wsUrl,
    token: TEST_TOKEN,
    stateDir,
    workspace,
    logs,
    gateway,
    service: gateway.service,
    async rpc<T>(method: string, params: Record<string, unknown> = {}): Promise<T> {
      shared ??= client();
      return (await (await shared).request(method as never, params as never)) as T;
    },
    fetch: (path, init = {}) => fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${TEST_TOKEN}`, ...init.headers } }),
    client,
    async close(closing = {}) {
      for (const open of clients) await open.close();
      await gateway.close("test over");
      if (!options.stateDir && !closing.keepState) await rm(stateDir, { recursive: true, force: true });
    },
  };
}

async function testConfig(options: TestGatewayOptions): Promise<SvcConfigInput> {
  const config = options.config ?? {};
  const named = options.plugins;
  const entries: NonNullable<NonNullable<SvcConfigInput["plugins"]>["entries"]> = {};
  if (named) for (const id of await bundledIds()) entries[id] = { enabled: named.includes(id) };
  const paths = (named ?? []).filter((p) => isAbsolute(p));
  const plugins = config.plugins ?? {};
  return {
    ...config,
    gateway: { mode: "local", ...config.gateway, auth: config.gateway?.auth ?? { token: TEST_TOKEN } },
    plugins: {
      ...plugins,
      entries: { ...entries, ...plugins.entries },
      load: { paths: [...paths, ...(plugins.load?.paths ?? [])] },
    },
  };
}

async function bundledIds(): Promise<string[]> {
  const entries = await readdir(join(packageRoot(), "plugins"), { withFileTypes: true });
  return entries.filter((e) => e.isDirectory()).map((e) => e.name);
}

async function writeWorkspace(root: string, files: Record<string, string>): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
