import { writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { messageOf } from "../../sdk/errors.ts";
import { createProgress } from "../../sdk/internal/progress.ts";
import type { Timers } from "../../sdk/types/common.ts";
import { describe } from "./guest-error.ts";
import { createLines } from "./lines.ts";
import type { GuestMessage, HostMessage } from "./messages.ts";

/** Caller of a handler, on the other side. `update` shows it a line of progress. */
export interface GuestCaller {
  readonly signal: AbortSignal;
  update(text: string): void;
}

/** Handlers of a guest. */
export interface GuestHandlers {
  /** Once, before any call. */
  start(data: never, host: { log(level: "debug" | "info" | "warn" | "error", message: string): void }): Promise<unknown>;
  call(name: string, args: never, caller: GuestCaller): Promise<unknown>;
  /** Folder whose files are named in errors. */
  root(): string | undefined;
}

/** Serves one host from inside a worker or a child process, until that ends it. */
export function serveGuest(handlers: GuestHandlers): void {
  const line = openLine();
  const running = new Map<number, AbortController>();
  const send = (message: GuestMessage) => line.post(JSON.stringify(message));
  const answer = (id: number, value: unknown) => {
    try {
      send({ type: "done", id, value });
    } catch (error) {
      send({ type: "failed", id, error: { message: `its result is no JSON: ${messageOf(error)}` } });
    }
  };
  line.listen((text) => {
    const message = JSON.parse(text) as HostMessage;
    if (message.type === "start") {
      void handlers.start(message.data as never, { log: (level, said) => send({ type: "log", level, message: said }) }).then(
        (value) => send({ type: "started", value }),
        (error: unknown) => send({ type: "start-failed", error: describe(error, handlers.root()) }),
      );
    } else if (message.type === "abort") {
      running.get(message.id)?.abort();
    } else {
      const { id, name, args } = message;
      const abort = new AbortController();
      running.set(id, abort);
      const progress = createProgress(plainTimers, (said) => send({ type: "update", id, text: said.slice(0, MAX_UPDATE_CHARS) }));
      void handlers
        .call(name, args as never, { signal: abort.signal, update: progress.update })
        .finally(() => progress.dispose())
        .then(
          (value) => answer(id, value),
          (error: unknown) => send({ type: "failed", id, error: describe(error, handlers.root()) }),
        )
        .finally(() => running.delete(id));
    }
  });
}

/** Longest line of progress. */
const MAX_UPDATE_CHARS = 4_000;

/** Timers of a guest, which ends with all that it has. */
export const plainTimers: Pick<Timers, "setTimeout" | "setInterval"> = {
  setTimeout(fn, delayMs) {
    const timer = setTimeout(fn, delayMs);
    return { dispose: () => clearTimeout(timer) };
  },
  setInterval(fn, periodMs) {
    const timer = setInterval(fn, periodMs);
    return { dispose: () => clearInterval(timer) };
  },
};

interface Line {
  post(text: string): void;
  listen(receive: (text: string) => void): void;
}

/** Descriptor on which a child process writes to its host: the one after its standard streams. */
const HOST_FILE = 3;

/** The way to the host. Code that is loaded later can reach it as well: the host takes nothing on trust that comes this way. */
function openLine(): Line {
  const port = parentPort;
  if (port) return { post: (text) => port.postMessage(text), listen: (receive) => void port.on("message", receive) };
  // Without the flags this process could do what the gateway can.
  if (!(process as { permission?: unknown }).permission) throw new Error("the permission model is not in force here");
  return { post: writeLine, listen: readLines };
}

/** The pipe blocks: a host that is busy slows its guest down instead of filling its memory. */
function writeLine(text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(HOST_FILE, bytes, written);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") process.exit(0);
    throw error;
  }
}

function readLines(receive: (text: string) => void): void {
  // The host has bounded what it sends.
  process.stdin.on("data", createLines({ maxBytes: Number.POSITIVE_INFINITY, onLine: receive, onTooLong: () => undefined }));
  process.stdin.once("error", () => process.exit(0));
  process.stdin.once("close", () => process.exit(0));
}
