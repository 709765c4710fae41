import { writeSync } from "node:fs";
import { type Debugger, type Runtime, Session } from "node:inspector";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { appendLogLineSync } from "../process/log-file.ts";
import { toLogLine } from "../process/log-line.ts";
import { logFilePath } from "../process/log-path.ts";
import { forgetOpenBlockSync, noteOpenBlockSync, type OpenBlock, quarantineSync } from "./quarantine.ts";
import { beat, type Stall, shared, type WatchdogData, type WatchdogNews } from "./watchdog-shared.ts";
import { createWatchdogState, type WatchdogStep } from "./watchdog-state.ts";

const TICK_MS = 50;
const IDLE_TICK_MS = 1_000;
/** A main thread inside a native call does not answer; then nobody can be named. On a starved machine an answer takes its time. */
const LOOK_MS = 1_000;
const LONG_LOOK_MS = 5_000;
const EXIT_CODE = 70;
/** Time the main thread has to exit by itself each time it is asked, and then time until the process is killed. */
const EXIT_MS = 3_000;
/** On a starved machine a request to exit has been seen without effect. */
const EXIT_REQUESTS = 3;
const GONE_MS = 2_000;
const POLL_MS = 20;
const MAX_FRAMES = 20;

type Seen = Pick<Stall, "owner" | "stack">;

const { buffer, limits, ownerKey, endKey, stateDir, ...given } = workerData as WatchdogData;
let { logFile } = given;
const view = new Int32Array(buffer);
const state = createWatchdogState(limits);
let seen: Seen = { stack: [] };
/** Beats counted when `seen` was seen: a later look at the same block that gets no answer takes nothing away. */
let seenBeats = -1;
let isNoted = false;

parentPort?.on("message", (news: WatchdogNews) => {
  logFile = news.logFile;
});
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
  if (step === "over") {
    if (isNoted) keep(forgetOpenBlockSync);
    isNoted = false;
    parentPort?.postMessage({ ms: state.stalledMs(), ...seen } satisfies Stall);
  } else if (step === "exit") exit();
  else if (step === "blame") look(LOOK_MS, () => undefined);
  else if (step === "report") look(LONG_LOOK_MS, () => say("warn", `the event loop has been blocked for ${seconds()} s${by()}`));
  else {
    look(LONG_LOOK_MS, () => {
      say("warn", `the event loop has been blocked for ${seconds()} s${by()}`);
      isNoted = true;
      keep((dir) => noteOpenBlockSync(dir, block()));
    });
  }
}

function by(): string {
  const { owner } = seen;
  return owner ? ` by plugin "${owner.plugin}" (${owner.what})` : "";
}

function block(): OpenBlock {
  const { owner, stack } = seen;
  const blame = { at: Date.now(), ms: state.stalledMs(), what: owner?.what ?? "unknown", stack, pid: process.pid };
  return owner ? { ...blame, plugin: owner.plugin } : blame;
}

/** Tells stderr and the log file, past the main thread. Either may fail: the other still has it. */
function say(level: "warn" | "error", message: string): void {
  const { stack } = seen;
  attempt(() => writeSync(2, `svc: ${message}\n${stack.map((line) => `    ${line}\n`).join("")}`));
  const fields = stack.length > 0 ? { fields: { stack } } : {};
  const line = toLogLine({ ts: Date.now(), level, subsystem: "gateway", message, ...fields }, process.pid);
  keep((dir) => appendLogLineSync(logFilePath(dir, logFile, new Date()), line));
}

function keep(write: (stateDir: string) => void): void {
  if (stateDir !== undefined) attempt(() => write(stateDir));
}

/** A full disk or a closed console keeps nobody from going on. */
function attempt(run: () => void): void {
  try {
    run();
  } catch {
    // there is nowhere left to say so
  }
}

function seconds(): number {
  return Math.round(state.stalledMs() / 1_000);
}

/** Stops the main thread for the moment it takes to see whose code runs and where. */
function look(limitMs: number, then: () => void): void {
  const beats = Atomics.load(view, shared.beats);
  if (beats !== seenBeats) seen = { stack: [] };
  seenBeats = beats;
  const whose = `JSON.stringify(globalThis[Symbol.for(${JSON.stringify(ownerKey)})]?.() ?? null)`;
  inMain(whose, limitMs, (stack, owner) => {
    // When it went on before it could be stopped, what ran then is not to blame.
    if (stack.length > 0 && Atomics.load(view, shared.beats) === beats) seen = { ...seen, stack, ...parseOwner(owner) };
    then();
  });
}

/** Writes blame down, then has the main thread end itself in the middle of its loop; when it cannot even do that, it is killed. */
function exit(): void {
  keep((dir) => quarantineSync(dir, block()));
  say("error", `the event loop has been blocked for ${seconds()} s${by()}; ending with exit code ${EXIT_CODE}`);
  setTimeout(() => process.kill(process.pid, "SIGKILL"), EXIT_REQUESTS * EXIT_MS + GONE_MS);
  const isEnding = () => Atomics.load(view, shared.ending) !== 0;
  let disconnect: () => void;
  const ask = (left: number) => {
    disconnect = inMain(`globalThis[Symbol.for(${JSON.stringify(endKey)})]?.(${EXIT_CODE})`, EXIT_MS, () => {
      if (left > 1 && !isEnding()) ask(left - 1);
    });
  };
  ask(EXIT_REQUESTS);
  // While the session stands, the end of the process waits for it.
  const poll = setInterval(() => {
    if (!isEnding()) return;
    clearInterval(poll);
    disconnect();
  }, POLL_MS);
}

/**
 * Evaluates an expression in the main thread, wherever that is, and lets it go on.
 * @param done called once, with the stack it stood in and the value; with neither when it did not answer
 * @returns ends the session before there is an answer
 */
function inMain(expression: string, limitMs: number, done: (stack: string[], value: unknown) => void): () => void {
  const session = new Session();
  const urls = new Map<string, string>();
  let isOver = false;
  const end = (stack: string[], value: unknown) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(limit);
    session.disconnect();
    done(stack, value);
  };
  const limit = setTimeout(() => end([], undefined), limitMs);
  session.connectToMainThread();
  session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
  session.once("Debugger.paused", ({ params }) => {
    // Sent before the session ended, read behind it: it takes no more requests.
    if (isOver) return;
    const stack = params.callFrames.slice(0, MAX_FRAMES).map((frame) => formatFrame(frame, urls));
    // In the global scope: inside a function of Node.js the names of the expression may stand for something else.
    session.post("Runtime.evaluate", { expression, returnByValue: true }, (_error, answer) =>
      end(stack, (answer as Runtime.EvaluateReturnType | undefined)?.result.value),
    );
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
  return () => end([], undefined);
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
