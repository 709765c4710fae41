import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { EventLoopFigures } from "../operations/event-loop.ts";
import { answerAndEnd } from "./linger.ts";
import { answerProbe } from "./probes.ts";
import { rawResponse, setBaseline } from "./raw-response.ts";

type Handler = (req: IncomingMessage, res: ServerResponse) => void;
type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Takes whoever comes while the rest of the gateway is still being loaded: probes are answered, others wait for that moment. */
export interface StartupGate {
  handler: Handler;
  upgrade: Upgrade;
  /** From now on everybody goes straight through; who waited first. */
  open(inner: { handler: Handler; upgrade: Upgrade }): void;
}

/** More than these do not wait: they are told to come back. */
const MAX_WAITING = 256;

export function createStartupGate(eventLoop: () => EventLoopFigures): StartupGate {
  const since = performance.now();
  const probe = {
    phase: () => "starting" as const,
    notReady: () => new Map<string, string>(),
    detail: () => ({ failing: [], problems: {}, uptimeMs: Math.round(performance.now() - since), eventLoop: eventLoop() }),
  };
  let inner: Parameters<StartupGate["open"]>[0] | undefined;
  let waiting: Array<(to: NonNullable<typeof inner>) => void> = [];
  return {
    handler(req, res) {
      if (inner) return inner.handler(req, res);
      setBaseline(req, res);
      if (answerProbe(req, res, probe)) return;
      if (waiting.length < MAX_WAITING) waiting.push(({ handler }) => handler(req, res));
      else res.writeHead(503, { "Retry-After": "1", "Content-Length": "0" }).end();
    },
    upgrade(req, socket, head) {
      if (inner) return inner.upgrade(req, socket, head);
      // Until somebody listens for its errors a connection that breaks would end the process.
      socket.on("error", () => socket.destroy());
      if (waiting.length < MAX_WAITING) waiting.push(({ upgrade }) => upgrade(req, socket, head));
      else answerAndEnd(socket, rawResponse(503, { retryAfter: 1 }));
    },
    open(to) {
      inner = to;
      for (const enter of waiting) enter(to);
      waiting = [];
    },
  };
}
