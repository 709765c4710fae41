import type { Verified } from "../ingress.ts";
import { type Answer, textAnswer, wholeSeconds } from "./answers.ts";
import { type EndpointDeps, logged, type RequestContext } from "./request-context.ts";

/** Reasons why a caller is not authenticated; for the log only. */
export type NoCredential = Extract<Verified, { ok: false }>["reason"] | "no_token" | "wrong_token";

/** 401, or 429 while the address is locked out; counted before the answer goes. */
export function refuseCaller(context: RequestContext, reason: NoCredential, { throttle, logger }: EndpointDeps): Answer {
  const { lockedMs, hasLocked } = throttle.fail(context.address);
  if (lockedMs > 0) return textAnswer(429, "Too Many Requests", { "Retry-After": wholeSeconds(lockedMs) });
  const mapping = context.verifier ? { mapping: context.verifier.mapping } : {};
  const fields = logged(context, { ...mapping, status: 401, reason });
  // One warning for a lockout; what comes during it is not told at all.
  if (hasLocked) logger.warn("hook sender locked out for 60 s after 20 failed attempts", fields);
  else logger.info("hook refused", fields);
  return textAnswer(401, "Unauthorized", { "WWW-Authenticate": "Bearer" });
}
