import type { Clock, Counter, HttpCall, HttpReply, JsonObject, Logger } from "svc/sdk";
import { shownName } from "svc/sdk/internal";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { Verifier } from "../ingress.ts";
import type { BodyGate } from "./body-gate.ts";
import type { Generations, Lease } from "./generations.ts";
import { headersOf } from "./hook-request.ts";
import type { Throttle } from "./throttle.ts";

/** Dependencies of the webhook endpoint. */
export interface EndpointDeps {
  generations: Generations;
  throttle: Throttle;
  bodies: BodyGate;
  deliveries: Pick<Deliveries, "accept" | "completion">;
  clock: Clock;
  logger: Logger;
  /** Counts requests by path and status. */
  requests: Counter;
}

/** A request with what its head says. */
export interface RequestContext {
  call: HttpCall;
  /** Below `hooks.path`, without slashes at either end. */
  path: string;
  /** The client, as far as trusted proxies tell it. */
  address: string;
  lease: Lease;
  /** Verifier of the mapping with `verify` that owns the path. */
  verifier: Verifier | undefined;
  /** All headers, credentials included; made at first use. */
  headers(): Readonly<Record<string, string>>;
}

export function createRequestContext(call: HttpCall, lease: Lease, path: string): RequestContext {
  let headers: Readonly<Record<string, string>> | undefined;
  return {
    call,
    path,
    address: call.remote.address,
    lease,
    verifier: lease.ingress.verifierOf(path),
    headers: () => (headers ??= headersOf(call.req.headers)),
  };
}

/** Rejects a sender that holds a credential; its owner finds the reason in the log. */
export function reject(context: RequestContext, answer: HttpReply, { reason, logger }: { reason: string; logger: Logger }): HttpReply {
  logger.info("hook refused", logged(context, { status: answer.status ?? 200, reason }));
  return answer;
}

/** Names caller and place for a log line that agents may read: clipped, on one line, without a secret. */
export function logged({ path, address }: RequestContext, more: JsonObject = {}): JsonObject {
  return { path: shownName(path), client: address, ...more };
}
