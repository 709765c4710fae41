import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { MemoryTranscript, SvcConfig, SvcConfigInput, Timers } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { type BackendHost, createSidecarBackend, type SidecarBackend } from "./backend.ts";
import { resolveSidecarSettings, type SidecarSettings } from "./settings.ts";

type SidecarInput = Partial<{ [K in keyof SvcConfig["memory"]["sidecar"]]: Partial<SvcConfig["memory"]["sidecar"][K]> }> & {
  paths?: SvcConfig["memory"]["sidecar"]["paths"];
  command?: string;
  searchMode?: SvcConfig["memory"]["sidecar"]["searchMode"];
  includeDefaultMemory?: boolean;
};

/** The config as a gateway parses it, as far as this plugin reads it. */
export function testConfig(sidecar: SidecarInput = {}, shared: SvcConfigInput = {}): SvcConfig {
  const { update, sessions, limits, scope, ...rest } = sidecar;
  const times = { commandTimeoutMs: 30_000, updateTimeoutMs: 120_000, embedTimeoutMs: 120_000 };
  const defaults = {
    command: "qmd",
    searchMode: "search" as const,
    includeDefaultMemory: true,
    paths: [],
    ...rest,
    sessions: { enabled: false, ...sessions },
    update: { interval: 300_000, debounceMs: 15_000, onBoot: true, waitForBootSync: false, ...times, ...update },
    limits: { ...limits },
    scope: {
      default: "deny" as const,
      rules: (["direct", "channel"] as const).map((chatType) => ({ action: "allow" as const, match: { chatType } })),
      ...scope,
    },
  };
  return { ...parseSharedConfig(shared), memory: { backend: "sidecar", citations: "auto", sidecar: defaults } } as SvcConfig;
}

/** A temporary state directory with the workspace of the default agent. */
export interface TestState {
  stateDir: string;
  workspace: string;
  write(path: string, text: string): void;
  remove(path: string): void;
  settings(sidecar?: SidecarInput, shared?: SvcConfigInput): SidecarSettings[];
  dispose(): void;
}

export function createTestState(files: Record<string, string> = {}): TestState {
  const stateDir = realpathSync(mkdtempSync(join(tmpdir(), "svc-sidecar-")));
  const workspace = join(stateDir, "workspace");
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  mkdirSync(workspace);
  for (const [path, text] of Object.entries(files)) write(path, text);
  return {
    stateDir,
    workspace,
    write,
    remove: (path) => rmSync(join(workspace, path)),
    settings: (sidecar, shared) => resolveSidecarSettings(testConfig(sidecar, shared), stateDir),
    dispose: () => rmSync(stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}

/** A host that keeps what is logged. */
export interface TestHost extends BackendHost {
  warnings: string[];
  debugs: string[];
  infos: string[];
  sessions: MemoryTranscript[];
  parents: Map<string, string>;
}

const realTimers: Pick<Timers, "setTimeout" | "setInterval"> = {
  setTimeout(run, ms) {
    const timer = setTimeout(run, ms);
    return { dispose: () => clearTimeout(timer) };
  },
  setInterval(run, ms) {
    const timer = setInterval(run, ms);
    return { dispose: () => clearInterval(timer) };
  },
};

export function createHost({ stateDir }: Pick<TestState, "stateDir">, over: Partial<BackendHost> = {}): TestHost {
  const host: TestHost = {
    warnings: [],
    debugs: [],
    infos: [],
    sessions: [],
    parents: new Map(),
    env: { HOME: stateDir },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    timers: realTimers,
    logger: {
      trace: () => undefined,
      debug: (message, fields) => void host.debugs.push(`${message} ${JSON.stringify(typeof fields === "function" ? fields() : fields)}`),
      info: (message) => void host.infos.push(message),
      warn: (message) => void host.warnings.push(message),
      error: () => undefined,
      child: () => host.logger,
    },
    embedLock: join(stateDir, "sidecar", "embed.lock"),
    transcripts: () =>
      async function* ({ updatedAfter = 0 }) {
        for (const session of host.sessions) if (session.updatedAt >= updatedAfter) yield session;
      },
    parentOf: async (key) => host.parents.get(key),
    ...over,
  };
  return host;
}

/** A transcript of some lines. */
export function transcript(sessionId: string, updatedAt: number, ...lines: string[]): MemoryTranscript & { reads: number } {
  const made = {
    sessionId,
    name: `Session ${sessionId}`,
    updatedAt,
    reads: 0,
    async *lines() {
      made.reads += 1;
      yield* lines;
    },
  };
  return made;
}

export function createBackend(host: BackendHost, settings: readonly SidecarSettings[]): SidecarBackend {
  return createSidecarBackend(host, settings);
}
