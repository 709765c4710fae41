import { settledWithin } from "../../sdk/time.ts";

/** Maximum bytes that wait for a reader that has stopped reading; text beyond it is dropped. */
const MAX_WAITING_BYTES = 1_000_000;
/** Pause of writes to a stream that failed: a named pipe may get another reader. */
const PAUSE_MS = 1_000;
/** Time a stopping gateway waits for the readers of its streams. */
const HURRY_MS = 1_000;

/** A stream of the process that a person or a program reads. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** The two standard streams of a process, guarded: a reader that goes away or stops reading throws nowhere and fills no memory. */
export interface StandardOutput {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborted when stdout has failed for the first time. */
  readonly closed: AbortSignal;
  /** Error code of a stdout that could not be written for another reason than a reader that left. */
  fault(): string | undefined;
  /** Resolves when everything written has left the process, or has failed. */
  flushed(): Promise<void>;
  /** From now on `flushed` waits a moment only: a reader that has stopped reading must not keep a gateway from ending. */
  hurry(): void;
  /** Calls the listener each time one of the streams begins to lose text. */
  onLoss(listener: (message: string) => void): () => void;
}

/** As much of `process.stdout` as is used here. */
export type WritableStream = Pick<NodeJS.WriteStream, "write" | "on"> & { readonly isTTY?: boolean; readonly writableLength: number };

/**
 * Puts stdout and stderr under guard: a reader that goes away (`EPIPE`, `EIO`), stops reading or has no room never throws in this process and never
 * fills its memory. Listeners stay for the life of the process.
 */
export function guardStandardStreams(
  streams: { stdout: WritableStream; stderr: WritableStream },
  monotonic: () => number = () => performance.now(),
): StandardOutput {
  const closed = new AbortController();
  const listeners = new Set<(message: string) => void>();
  const faults: { stdout?: string } = {};
  let isHurried = false;
  const guard = (name: "stdout" | "stderr") =>
    guardStream(streams[name], {
      monotonic,
      onFault(code) {
        const isGone = code === "EPIPE" || code === "EIO";
        if (name === "stdout") {
          if (!isGone) faults.stdout = code;
          closed.abort();
        }
        const what = isGone ? `is closed (${code})` : `cannot be written (${code})`;
        for (const listener of listeners) listener(`${name} ${what}; lines are missing there from now on, the log file has them`);
      },
      onStall() {
        for (const listener of listeners) listener(`${name} is not being read; lines are missing there from now on, the log file has them`);
      },
    });
  const stdout = guard("stdout");
  const stderr = guard("stderr");
  return {
    stdout: stdout.stream,
    stderr: stderr.stream,
    closed: closed.signal,
    fault: () => faults.stdout,
    async flushed() {
      const both = Promise.all([stdout.flushed(), stderr.flushed()]);
      await (isHurried ? settledWithin(both, HURRY_MS) : both);
    },
    hurry() {
      isHurried = true;
    },
    onLoss(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function guardStream(stream: WritableStream, on: { monotonic(): number; onFault(code: string): void; onStall(): void }) {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isLosing = false;
  let lost = 0;
  const lose = (notify: () => void) => {
    lost += 1;
    if (isLosing) return;
    isLosing = true;
    notify();
  };
  stream.on("error", (error: NodeJS.ErrnoException) => {
    pausedUntil = on.monotonic() + PAUSE_MS;
    lose(() => on.onFault(error.code ?? error.message));
  });
  const written = (error?: Error | null) => {
    if (error || !isLosing || stream.writableLength > 0) return;
    const count = lost;
    [isLosing, lost] = [false, 0];
    stream.write(`svc: ${count} ${count === 1 ? "line is" : "lines are"} missing here; the log file has them\n`);
  };
  const guarded: OutputStream = {
    isTTY: stream.isTTY === true,
    write(text) {
      if (on.monotonic() < pausedUntil) lost += 1;
      else if (stream.writableLength > MAX_WAITING_BYTES) lose(on.onStall);
      else stream.write(text, written);
    },
  };
  return { stream: guarded, flushed: () => new Promise<void>((resolve) => void stream.write("", () => resolve())) };
}
