import type { IncomingMessage, ServerResponse } from "node:http";
import { isSvcError } from "../../sdk/errors.ts";
import type { Counter, Histogram } from "../../sdk/types/metrics.ts";
import type { ActiveSpan } from "../../sdk/types/tracing.ts";
import type { MetricRegistry } from "../operations/metrics/registry.ts";
import type { Tracer } from "../operations/tracer.ts";

/** Figures and traces of what comes over the port. */
export interface PortTelemetry {
  /** Counts a request at its end, and says then how long it took. */
  watch(res: ServerResponse, req: IncomingMessage, onEnd?: (ms: number) => void): void;
  /** Serves a request as a span that ends with the answer. @param route declared path of its route; undefined: none claims it */
  serve<T>(
    at: { req: IncomingMessage; res: ServerResponse; route: string | undefined },
    work: () => T | PromiseLike<T>,
  ): T | PromiseLike<T>;
  /** Runs a method as a span and takes its time. */
  call<T>(method: string, traceparent: string | undefined, work: () => Promise<T>): Promise<T>;
}

/** Route of requests that reach none. */
const NO_ROUTE = "none";
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** Ends of a call are few: codes of errors are a closed list, and foreign ones are `internal`. */
const MAX_CALL_SERIES = 1_000;

export function createPortTelemetry(metrics: MetricRegistry, tracer: Tracer): PortTelemetry {
  const { requests, durations, calls } = declare(metrics);
  const routes = new WeakMap<ServerResponse, string>();
  return {
    watch(res, req, onEnd) {
      const started = performance.now();
      res.on("close", () => {
        const route = routes.get(res) ?? NO_ROUTE;
        const method = methods.has(req.method ?? "") ? (req.method as string) : "other";
        requests.add(1, route, method, String(res.statusCode));
        const ms = performance.now() - started;
        durations.observe(ms, route);
        onEnd?.(ms);
      });
    },
    serve({ req, res, route }, work) {
      if (route !== undefined) routes.set(res, route);
      if (!tracer.isRecording()) return work();
      const method = req.method ?? "";
      const attributes = { "http.request.method": method, ...(route === undefined ? {} : { "http.route": route }) };
      const name = route === undefined ? method : `${method} ${route}`;
      return untilClosed(res, (covered) =>
        tracer.span(name, { kind: "server", parent: headerOf(req), attributes, owner: "kernel" }, covered),
      )(work);
    },
    async call(method, traceparent, work) {
      const started = performance.now();
      try {
        const options = { kind: "server", parent: traceparent, attributes: { "rpc.method": method }, owner: "kernel" } as const;
        const result = tracer.isRecording() ? await tracer.span(`rpc ${method}`, options, work) : await work();
        calls.observe(performance.now() - started, method, "ok");
        return result;
      } catch (error) {
        calls.observe(performance.now() - started, method, isSvcError(error) ? error.code : "internal");
        throw error;
      }
    },
  };
}

function declare(metrics: MetricRegistry): { requests: Counter; durations: Histogram; calls: Histogram } {
  const kernel = { id: "kernel" };
  const requests = metrics.counter(
    {
      name: "http_requests_total",
      help: "HTTP requests by declared route, method and status",
      labels: ["route", "method", "status"],
      maxSeries: 500,
    },
    kernel,
  );
  const durations = metrics.histogram(
    { name: "http_request_duration_ms", help: "Time until the end of an answer", labels: ["route"] },
    kernel,
  );
  const calls = metrics.histogram(
    { name: "rpc_duration_ms", help: "Time of a call of the control protocol", labels: ["method", "outcome"], maxSeries: MAX_CALL_SERIES },
    kernel,
  );
  for (const declared of [requests, durations, calls]) declared.attach();
  return { requests: requests.handle, durations: durations.handle, calls: calls.handle };
}

/** Only what a request itself says; several values are none. */
function headerOf({ headers }: IncomingMessage): string | undefined {
  return typeof headers.traceparent === "string" ? headers.traceparent : undefined;
}

/** Gives the answer as soon as it is there, while the span goes on until it was sent: a streamed answer is work as well. */
function untilClosed(res: ServerResponse, cover: (work: (span: ActiveSpan) => Promise<void>) => Promise<void>) {
  return <T>(work: () => T | PromiseLike<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const closed = new Promise<void>((done) => (res.closed ? done() : res.once("close", done)));
      cover(async (span) => {
        const answer = Promise.resolve(work());
        answer.then(resolve, reject);
        await answer.catch(() => undefined);
        await closed;
        span.set({ "http.response.status_code": res.statusCode });
        if (res.statusCode >= 500) span.fail(`status ${res.statusCode}`);
      }).catch(reject);
    });
}
