import type { IncomingMessage, ServerResponse } from "node:http";
import { isDirectLoopback } from "../auth/client-address.ts";
import type { EventLoopFigures } from "../operations/event-loop.ts";

export type Phase = "starting" | "plugins" | "ready" | "safe-mode" | "draining" | "stopped";

/** Requests are answered; in safe mode, too. */
export function isServing(phase: Phase): boolean {
  return phase === "ready" || phase === "safe-mode";
}

export interface ProbeState {
  phase(): Phase;
  /** Reasons why a running gateway should get no new work, by part of health; current, not from the last health check. */
  notReady(): ReadonlyMap<string, string>;
  /** Details for `/readyz` of a direct local caller; `problems`: part → why it fails. */
  detail(): { failing: string[]; problems: Record<string, string>; uptimeMs: number; eventLoop: EventLoopFigures };
}

const live = Buffer.from('{"ok":true,"status":"live"}');
const ready = Buffer.from('{"ready":true}');
const notReady = Buffer.from('{"ready":false}');

/** `/healthz`, `/readyz` and their short forms: no auth, no config, no database. False when the path is no probe. */
export function answerProbe(req: IncomingMessage, res: ServerResponse, state: ProbeState): boolean {
  const path = (req.url ?? "").split("?", 1)[0];
  const isHealth = path === "/healthz" || path === "/health";
  if (!isHealth && path !== "/readyz" && path !== "/ready") return false;
  if (req.method !== "GET" && req.method !== "HEAD") {
    res.setHeader("Allow", "GET, HEAD");
    send(res, { status: 405, type: "text/plain; charset=utf-8", body: Buffer.from("Method Not Allowed") });
    return true;
  }
  const head = req.method === "HEAD";
  if (isHealth) {
    send(res, { status: 200, type: "application/json; charset=utf-8", body: live, head });
    return true;
  }
  const obstacles = state.notReady();
  const isReady = state.phase() === "ready" && obstacles.size === 0;
  const body = isDirectLoopback(req)
    ? Buffer.from(JSON.stringify({ ready: isReady, phase: state.phase(), ...withReasons(state.detail(), obstacles) }))
    : isReady
      ? ready
      : notReady;
  send(res, { status: isReady ? 200 : 503, type: "application/json; charset=utf-8", body, head });
  return true;
}

function withReasons(detail: ReturnType<ProbeState["detail"]>, obstacles: ReadonlyMap<string, string>) {
  if (obstacles.size === 0) return detail;
  return {
    ...detail,
    failing: [...new Set([...obstacles.keys(), ...detail.failing])],
    problems: { ...detail.problems, ...Object.fromEntries(obstacles) },
  };
}

function send(res: ServerResponse, answer: { status: number; type: string; body: Buffer; head?: boolean }): void {
  res.writeHead(answer.status, { "Content-Type": answer.type, "Content-Length": answer.body.length, "Cache-Control": "no-store" });
  res.end(answer.head ? undefined : answer.body);
}
