import { writeSync } from "node:fs";
import { type Debugger, Session } from "node:inspector";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { beat, type Stall, shared, type WatchdogData } from "./watchdog-shared.ts";
import { createWatchdogState, type WatchdogStep } from "./watchdog-state.ts";

const TICK_MS = 50;
const IDLE_TICK_MS = 1_000;
/** A main thread inside a native call does not answer; then nobody can be named. */
const LOOK_MS = 1_000;
const EXIT_CODE = 70;
/** How long the main thread may take to end itself. */
const EXIT_MS = 2_000;
const MAX_FRAMES = 20;

type Seen = Pick<Stall, "owner" | "stack">;

const { buffer, limits, ownerKey } = workerData as WatchdogData;
const view = new Int32Array(buffer);
const state = createWatchdogState(limits);
let seen: Seen = { stack: [] };

tick();

function tick(): void {
  const isQuick = Atomics.load(view, shared.quick) === 1;
  const times = isQuick ? { beatMs: beat.quickMs, tickMs: TICK_MS } : { beatMs: beat.idleMs, tickMs: IDLE_TICK_MS };
  const step = state.step(performance.now(), Atomics.load(view, shared.beats), times);
  if (step !== undefined && Atomics.load(view, shared.debugged) === 0) follow(step);
  if (isQuick || state.isLate()) setTimeout(tick, TICK_MS);
  else {
    // Woken at once when plugin code is entered; nothing else has to be done here meanwhile.
    Atomics.wait(view, shared.quick, 0, IDLE_TICK_MS);
    setImmediate(tick);
  }
}

function follow(step: WatchdogStep): void {
  if (step === "over") parentPort?.postMessage({ ms: state.stalledMs(), ...seen } satisfies Stall);
  else if (step === "exit") exit();
  else look(step === "blame" ? () => undefined : say);
}

/** The log waits for the main thread; the descriptor does not. */
function say(): void {
  const { owner, stack } = seen;
  const by = owner ? ` by plugin "${owner.plugin}" (${owner.what})` : "";
  writeSync(2, `svc: the event loop has been blocked for ${seconds()} s${by}\n${stack.map((line) => `    ${line}\n`).join("")}`);
}

function seconds(): number {
  return Math.round(state.stalledMs() / 1_000);
}

/** Stops the main thread for the moment it takes to see whose code runs and where. */
function look(then: () => void): void {
  const beats = Atomics.load(view, shared.beats);
  seen = { stack: [] };
  const whose = `JSON.stringify(globalThis[Symbol.for(${JSON.stringify(ownerKey)})]?.() ?? null)`;
  inMain(whose, (stack, owner) => {
    // When it went on before it could be stopped, what ran then is not to blame.
    if (Atomics.load(view, shared.beats) === beats) seen = { stack, ...parseOwner(owner) };
    then();
  });
}

/** The main thread ends itself in the middle of its loop; when it cannot even do that, it is killed. */
function exit(): void {
  writeSync(2, `svc: the event loop has been blocked for ${seconds()} s; ending with exit code ${EXIT_CODE}\n`);
  setTimeout(() => process.kill(process.pid, "SIGKILL"), EXIT_MS);
  inMain(`process.exit(${EXIT_CODE})`, () => undefined);
}

/**
 * Evaluates an expression in the main thread, wherever that is, and lets it go on.
 * @param done called once, with the stack it stood in and the value; with neither when it did not answer
 */
function inMain(expression: string, done: (stack: string[], value: unknown) => void): void {
  const session = new Session();
  const urls = new Map<string, string>();
  const end = (stack: string[], value: unknown) => {
    clearTimeout(limit);
    session.disconnect();
    done(stack, value);
  };
  const limit = setTimeout(() => end([], undefined), LOOK_MS);
  session.connectToMainThread();
  session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
  session.once("Debugger.paused", ({ params }) => {
    const stack = params.callFrames.slice(0, MAX_FRAMES).map((frame) => formatFrame(frame, urls));
    const callFrameId = params.callFrames[0]?.callFrameId ?? "";
    session.post("Debugger.evaluateOnCallFrame", { callFrameId, expression, returnByValue: true }, (_error, answer) =>
      end(stack, (answer as Debugger.EvaluateOnCallFrameReturnType | undefined)?.result.value),
    );
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
}

function formatFrame({ functionName, location, url }: Debugger.CallFrame, urls: ReadonlyMap<string, string>): string {
  const place = urls.get(location.scriptId) ?? url;
  return `${functionName || "(anonymous)"} ${place.startsWith("file:") ? fileURLToPath(place) : place}:${location.lineNumber + 1}`;
}

function parseOwner(text: unknown): Pick<Seen, "owner"> {
  const value: unknown = typeof text === "string" ? JSON.parse(text) : null;
  const { plugin, what } = (value ?? {}) as { plugin?: unknown; what?: unknown };
  return typeof plugin === "string" && typeof what === "string" ? { owner: { plugin, what } } : {};
}
