import { writeSync } from "node:fs";
import { type Debugger, Session } from "node:inspector";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { Stall, WatchdogData } from "./watchdog.ts";
import { createWatchdogState } from "./watchdog-state.ts";

const TICK_MS = 50;
/** A main thread inside a native call does not answer; then nobody can be named. */
const LOOK_MS = 1_000;
const EXIT_CODE = 70;
/** How long the main thread may take to end itself. */
const EXIT_MS = 2_000;
const MAX_FRAMES = 20;

type Seen = Pick<Stall, "owner" | "stack">;

const { shared, limits, beatMs, ownerKey } = workerData as WatchdogData;
const view = new Int32Array(shared);
const state = createWatchdogState(limits, { beatMs, tickMs: TICK_MS });
const whose = `JSON.stringify(globalThis[Symbol.for(${JSON.stringify(ownerKey)})]?.() ?? null)`;
let seen: Seen = { stack: [] };

setInterval(() => {
  const step = state.step(performance.now(), Atomics.load(view, 0));
  if (step === undefined || Atomics.load(view, 1) === 1) return;
  if (step === "over") parentPort?.postMessage({ ms: state.stalledMs(), ...seen } satisfies Stall);
  else if (step === "exit") exit();
  else look(step === "blame" ? () => undefined : say);
}, TICK_MS);

/** The log waits for the main thread; the descriptor does not. */
function say(): void {
  const { owner, stack } = seen;
  const by = owner ? ` by plugin "${owner.plugin}" (${owner.what})` : "";
  writeSync(
    2,
    `svc: the event loop has been blocked for ${Math.round(state.stalledMs() / 1000)} s${by}\n${stack.map((s) => `    ${s}\n`).join("")}`,
  );
}

/** Stops the main thread for the moment it takes to see whose code runs and where. */
function look(then: () => void): void {
  const beats = Atomics.load(view, 0);
  seen = { stack: [] };
  pauseMain((session, frames, urls) => {
    // It went on before it could be stopped: what runs now is not to blame.
    if (Atomics.load(view, 0) !== beats) return session.disconnect();
    const [top] = frames;
    const stack = frames.slice(0, MAX_FRAMES).map((frame) => formatFrame(frame, urls.get(frame.location.scriptId) ?? frame.url));
    const leave = (owner: Seen["owner"] | undefined) => {
      seen = { stack, ...(owner ? { owner } : {}) };
      session.disconnect();
    };
    if (!top) return leave(undefined);
    const ask = { callFrameId: top.callFrameId, expression: whose, returnByValue: true };
    session.post("Debugger.evaluateOnCallFrame", ask, (_error, answer) =>
      leave(parseOwner((answer as Debugger.EvaluateOnCallFrameReturnType | undefined)?.result.value)),
    );
  }, then);
}

/** The main thread ends itself in the middle of its loop; when it cannot even do that, it is killed. */
function exit(): void {
  writeSync(2, `svc: the event loop has been blocked for ${Math.round(state.stalledMs() / 1000)} s; ending with exit code ${EXIT_CODE}\n`);
  setTimeout(() => process.kill(process.pid, "SIGKILL"), EXIT_MS);
  pauseMain(
    (session, [top]) => {
      if (!top) return;
      const ask = { callFrameId: top.callFrameId, expression: `process.exit(${EXIT_CODE})` };
      session.post("Debugger.evaluateOnCallFrame", ask, () => undefined);
    },
    () => undefined,
  );
}

/** `onPaused` must disconnect the session, which lets the main thread go on; `done` follows in any case. */
function pauseMain(
  onPaused: (session: Session, frames: Debugger.CallFrame[], urls: ReadonlyMap<string, string>) => void,
  done: () => void,
): void {
  const session = new Session();
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
  const limit = setTimeout(() => {
    session.disconnect();
    done();
  }, LOOK_MS);
  session.connectToMainThread();
  session.once("Debugger.paused", ({ params }) => {
    clearTimeout(limit);
    onPaused(session, params.callFrames, urls);
    done();
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
}

function formatFrame({ functionName, location }: Debugger.CallFrame, url: string): string {
  const file = url.startsWith("file:") ? fileURLToPath(url) : url;
  return `${functionName || "(anonymous)"} ${file}:${location.lineNumber + 1}`;
}

function parseOwner(text: unknown): Seen["owner"] | undefined {
  const value: unknown = typeof text === "string" ? JSON.parse(text) : null;
  if (typeof value !== "object" || value === null) return undefined;
  const { plugin, what } = value as { plugin?: unknown; what?: unknown };
  return typeof plugin === "string" && typeof what === "string" ? { plugin, what } : undefined;
}
