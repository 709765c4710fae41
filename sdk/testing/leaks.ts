import { createHook } from "node:async_hooks";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { eventually } from "./eventually.ts";
import { runner } from "./runner.ts";

/** Watches what is opened from its making on. */
export interface LeakWatch {
  /** Lists resources opened since that keep the process alive, as `Timeout (at …)`; folders and gateways of tests that were not removed or closed. */
  left(): Promise<string[]>;
  /**
   * Waits until nothing is left (sockets take a moment to close), then stops watching.
   * @throws {Error} that lists what is still open after `timeoutMs`, default 3 s
   */
  assertNone(timeoutMs?: number): Promise<void>;
  /** Stops watching. */
  dispose(): void;
}

/** Kinds of resources that somebody has to close. Files and loop phases end by themselves. */
const owned = new Set([
  "Timeout",
  "TCPSERVERWRAP",
  "TCPWRAP",
  "TLSWRAP",
  "PIPESERVERWRAP",
  "UDPWRAP",
  "FSEVENTWRAP",
  "STATWATCHER",
  "PROCESSWRAP",
  "WORKER",
  "SIGNALWRAP",
]);

interface Opened {
  kind: string;
  resource: WeakRef<object>;
  stack: string;
}

const openGateways = new Set<string>();

/** Called by `createTestGateway`: a gateway that is not closed is a leak with a name. */
export function trackGateway(stateDir: string): () => void {
  openGateways.add(stateDir);
  return () => void openGateways.delete(stateDir);
}

/** Starts watching for timers, sockets, servers, watchers, children, workers, temporary folders and gateways that are left open. */
export function watchLeaks(): LeakWatch {
  const opened = new Map<number, Opened>();
  const gatewaysBefore = new Set(openGateways);
  const foldersBefore = testFolders();
  const hook = createHook({
    init(id, kind, _trigger, resource) {
      if (owned.has(kind)) opened.set(id, { kind, resource: new WeakRef(resource), stack: new Error().stack ?? "" });
    },
    destroy: (id) => void opened.delete(id),
  }).enable();

  const left = async () => {
    return [
      ...[...openGateways].filter((dir) => !gatewaysBefore.has(dir)).map((dir) => `gateway of ${dir}`),
      ...testFolders()
        .filter((name) => !foldersBefore.includes(name))
        .map((name) => `folder ${name}`),
      ...[...opened.values()].filter(keepsAlive).map(({ kind, stack }) => `${kind} (${placeOf(stack)})`),
    ];
  };
  return {
    left,
    async assertNone(timeoutMs = 3_000) {
      try {
        await eventually(async () => {
          const open = await left();
          if (open.length > 0) throw new Error(`left open: ${open.join(", ")}`);
          return true;
        }, timeoutMs);
      } finally {
        hook.disable();
      }
    },
    dispose: () => void hook.disable(),
  };
}

/** Fails each test of this file (or of the surrounding `describe`) that leaves something open. */
export function expectNoLeaks(): void {
  let watch: LeakWatch | undefined;
  runner().beforeEach(() => {
    watch = watchLeaks();
  });
  runner().afterEach(async () => {
    await watch?.assertNone();
  });
}

/** A resource that was let go of, or that does not keep the process alive, is no leak. */
function keepsAlive({ resource }: Opened): boolean {
  const alive = resource.deref() as { hasRef?: () => boolean; _destroyed?: boolean } | undefined;
  return alive !== undefined && alive._destroyed !== true && (typeof alive.hasRef !== "function" || alive.hasRef());
}

/** The first frame of a stack that is neither of the runtime nor this file's. */
function placeOf(stack: string): string {
  const frames = stack.split("\n").slice(1);
  const own = frames.find((frame) => !/node:|\(<anonymous>\)|[/\\]testing[/\\]leaks\.[jt]s/.test(frame));
  return (own ?? frames.at(-1) ?? "").trim();
}

/** Read at once: what is made right after the watch began must not count as there before. */
function testFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("svc-test-") && name.includes(`-${process.pid}-`));
}
