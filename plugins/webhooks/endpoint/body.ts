import { type HttpReply, isSvcError, messageOf } from "svc/sdk";
import { jsonTextFault, strictJsonLimits } from "svc/sdk/internal";
import { type Answer, failure, unavailable } from "./answers.ts";
import { refuseCaller } from "./refuse-caller.ts";
import { type EndpointDeps, type RequestContext, reject } from "./request-context.ts";

/** Time for a body: of a sender that holds the token, and of one whose signature decides about it. */
const BODY_MS = 30_000;
const SIGNED_BODY_MS = 10_000;
const BUSY_RETRY_MS = 1_000;

export type Payload = { payload: unknown } | { answer: Answer };

/** Reads the body, lets the signature be judged where one is due, and parses it. */
export async function readPayload(context: RequestContext, deps: EndpointDeps): Promise<Payload> {
  const { verifier } = context;
  const leave = verifier?.mode === "instead" ? deps.bodies.enter(context.address) : () => undefined;
  if (!leave) return { answer: unavailable("too many requests at once", BUSY_RETRY_MS) };
  try {
    const timeoutMs = verifier ? SIGNED_BODY_MS : BODY_MS;
    const body = await context.call.bytes({ maxBytes: context.lease.ingress.maxBodyBytes(context.path), timeoutMs });
    if (verifier) {
      const verified = await verifier.verify({ headers: context.headers(), body, now: deps.clock.now() });
      if (!verified.ok) return { answer: refuseCaller(context, verified.reason, deps) };
      deps.throttle.succeed(context.address);
    }
    return parse(body, (answer, reason) => ({ answer: reject(context, answer, { reason, logger: deps.logger }) }));
  } catch (error) {
    return { answer: unread(context, error, deps) };
  } finally {
    leave();
  }
}

/** @throws whatever is not about the body */
function unread(context: RequestContext, error: unknown, { logger }: EndpointDeps): Answer {
  // Of a caller that nobody vouches for yet there is no line: anybody could fill the log.
  const refuse = (status: number, reason: string) => {
    const answer = failure(status, reason);
    return context.verifier?.mode === "instead" ? answer : reject(context, answer, { reason, logger });
  };
  if (isSvcError(error, "payload-too-large")) return refuse(413, "payload too large");
  if (isSvcError(error, "request-timeout")) return refuse(408, "request body timeout");
  throw error;
}

/** Parses the body. The parser's message quotes it, so only the sender gets it, not the log. */
function parse(body: Uint8Array, refuse: (answer: HttpReply, reason: string) => Payload): Payload {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  if (text.trim() === "") return { payload: {} };
  const fault = jsonTextFault(text, strictJsonLimits);
  if (fault !== undefined) return refuse(failure(400, `the body is ${fault}`), `the body is ${fault}`);
  try {
    return { payload: JSON.parse(text) as unknown };
  } catch (error) {
    return refuse(failure(400, messageOf(error)), "not JSON");
  }
}
