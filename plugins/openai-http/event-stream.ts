import type { Clock, Disposable, Timers } from "svc/sdk";
import { keepaliveFrame } from "./chunks.ts";

/** Bytes that may wait for a slow client before the writer waits too. */
const BUFFER_BYTES = 64 * 1024;
/** A client that takes nothing for so long is gone. */
const STALL_MS = 30_000;
/** Proxies cut streams that are silent for 60 s. */
const KEEPALIVE_MS = 15_000;

/** Headers of an answer that is a stream. */
export const eventStreamHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
} as const;

const encoder = new TextEncoder();

/** A server-sent event stream: one enqueue per frame, a comment line in long silences. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Sends a frame; does nothing once the stream is closed. */
  write(frame: string): void;
  /** True when another frame may be written at once. */
  hasRoom(): boolean;
  /** Resolves when there is room again or the stream is closed; a client that stalls for 30 s closes it. */
  room(): Promise<void>;
  close(): void;
}

/** @param options.onGone called once when the client goes away or stalls before `close` */
export function createEventStream(options: { clock: Clock; timers: Pick<Timers, "setTimeout">; onGone(): void }): EventStream {
  const { clock, timers } = options;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let wake: (() => void) | undefined;
  let lastWrite = clock.monotonic();
  let keepalive: Disposable | undefined;

  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own;
      },
      pull: () => wake?.(),
      cancel: () => gone(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  );

  function release(): void {
    controller = undefined;
    void keepalive?.dispose();
    wake?.();
  }

  function gone(): void {
    if (!controller) return;
    release();
    options.onGone();
  }

  function stalled(): void {
    const open = controller;
    gone();
    open?.error(new Error("the client took nothing for 30 s"));
  }

  const write = (frame: string) => {
    lastWrite = clock.monotonic();
    controller?.enqueue(encoder.encode(frame));
  };
  const hasRoom = () => controller === undefined || (controller.desiredSize ?? 0) > 0;

  function watchSilence(delayMs: number): void {
    keepalive = timers.setTimeout(() => {
      const silentMs = clock.monotonic() - lastWrite;
      if (silentMs >= KEEPALIVE_MS && hasRoom()) write(keepaliveFrame);
      watchSilence(silentMs >= KEEPALIVE_MS ? KEEPALIVE_MS : KEEPALIVE_MS - silentMs);
    }, delayMs);
  }
  watchSilence(KEEPALIVE_MS);

  return {
    body,
    write,
    hasRoom,
    async room() {
      if (hasRoom()) return;
      const limit = timers.setTimeout(stalled, STALL_MS);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = undefined;
      await limit.dispose();
    },
    close() {
      const open = controller;
      release();
      open?.close();
    },
  };
}
