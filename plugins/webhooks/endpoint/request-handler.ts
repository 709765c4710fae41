import type { HttpCall, HttpFault } from "svc/sdk";
import { type Answer, failure, notFound, textAnswer, unavailable } from "./answers.ts";
import { readPayload } from "./body.ts";
import { hasQueryToken, isToken, presentedToken, QUERY_TOKEN_REFUSED } from "./credentials.ts";
import { dispatch } from "./dispatch.ts";
import { isTooLong, subPath } from "./hook-request.ts";
import { refuseCaller } from "./refuse-caller.ts";
import { createRequestContext, type EndpointDeps, type RequestContext, reject } from "./request-context.ts";

/** Answers requests and counts them. The path of a sender without a credential is foreign text and is not named. */
export function createRequestHandler(deps: EndpointDeps): (call: HttpCall) => Promise<Answer> {
  const answer = createAnswerer(deps);
  return async (call) => {
    const given = await answer(call);
    const status = given.status ?? 200;
    deps.requests.add(1, strangers.has(status) ? "none" : subPath(call.rest), String(status));
    return given;
  };
}

/** Answers that a sender gets without having proved itself. */
const strangers: ReadonlySet<number> = new Set([400, 401, 404, 405, 414, 429]);

/** Checks of a request's head, in a fixed order, behind one of the address's length; the first that fails answers. */
function createAnswerer(deps: EndpointDeps): (call: HttpCall) => Promise<Answer> {
  return async (call) => {
    const lease = deps.generations.enter();
    if (!lease) return notFound();
    try {
      if (isTooLong(call.rest, call.url.search)) return textAnswer(414, "URI Too Long");
      const context = createRequestContext(call, lease, subPath(call.rest));
      const refused = checkHead(context, deps);
      if (refused) return refused;
      const body = await readPayload(context, deps);
      if ("answer" in body) return body.answer;
      if (!lease.isCurrent()) {
        const reason = "hook configuration changed; retry request";
        return reject(context, failure(409, reason), { reason, logger: deps.logger });
      }
      return await dispatch(context, body.payload, deps);
    } finally {
      lease.release();
    }
  };
}

/** Checks the head of a request, before the body is read. */
function checkHead(context: RequestContext, deps: EndpointDeps): Answer | undefined {
  const { call, path, lease, verifier } = context;
  if (hasQueryToken(call.url)) return textAnswer(400, QUERY_TOKEN_REFUSED);
  if (call.req.method !== "POST") return textAnswer(405, "Method Not Allowed", { Allow: "POST" });
  if (verifier?.mode !== "instead") {
    if (!lease.tokenDigest) return unavailable("gateway_unavailable", 5_000);
    const token = presentedToken(call.req.headers);
    if (!isToken(token, lease.tokenDigest)) return refuseCaller(context, token === undefined ? "no_token" : "wrong_token", deps);
    if (!verifier) deps.throttle.succeed(context.address);
  }
  if (path === "") return reject(context, notFound(), { reason: "the base path has no action", logger: deps.logger });
  return undefined;
}

/** The kernel's own refusals (a gateway that stops) in the form of this path. */
export function endpointFault(fault: HttpFault): Response {
  const error = fault.status === 503 ? "gateway_unavailable" : fault.message;
  return Response.json({ ok: false, error }, { status: fault.status, headers: { "Content-Type": "application/json; charset=utf-8" } });
}
