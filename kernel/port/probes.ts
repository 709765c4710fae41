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
  /** Details for `/readyz` of a direct local or authenticated caller; `problems`: part → why it fails. */
  detail(): { failing: string[]; problems: Record<string, string>; uptimeMs: number; eventLoop: EventLoopFigures };
}

const live = Buffer.from('{"ok":true,"status":"live"}');
const ready = Buffer.from('{"ready":true}');
const notReady = Buffer.from('{"ready":false}');

/** Tells whether a caller from elsewhere has shown a valid credential; undefined at once for one without any. */
export type ProbeAuth = (req: IncomingMessage) => Promise<boolean> | undefined;

/**
 * `/healthz`, `/readyz` and their short forms: no auth, no config, no database. False when the path is no probe.
 * @param authenticate decides who sees more than a yes or no from elsewhere; without it nobody does
 */
export function answerProbe(req: IncomingMessage, res: ServerResponse, state: ProbeState, authenticate?: ProbeAuth): boolean {
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
  const answer = (isDetailed: boolean) => send(res, { ...readiness(state, isDetailed), type: "application/json; charset=utf-8", head });
  const asked = isDirectLoopback(req) ? undefined : authenticate?.(req);
  if (asked) void asked.then(answer);
  else answer(isDirectLoopback(req));
  return true;
}

function readiness(state: ProbeState, isDetailed: boolean): { status: number; body: Buffer } {
  const obstacles = state.notReady();
  const isReady = state.phase() === "ready" && obstacles.size === 0;
  const status = isReady ? 200 : 503;
  if (!isDetailed) return { status, body: isReady ? ready : notReady };
  const detail = { ready: isReady, phase: state.phase(), ...withReasons(state.detail(), obstacles) };
  return { status, body: Buffer.from(JSON.stringify(detail)) };
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
