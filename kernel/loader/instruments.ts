import type { Disposable } from "../../sdk/types/common.ts";
import type { PluginContext } from "../../sdk/types/context.ts";
import type { Counter, Histogram, MetricSpec, Metrics } from "../../sdk/types/metrics.ts";
import type { HttpRequestFunction } from "../../sdk/types/request.ts";
import type { Tracing } from "../../sdk/types/tracing.ts";
import type { Declared, MetricOwner } from "../operations/metrics/registry.ts";
import type { Tracer } from "../operations/tracer.ts";
import type { Host } from "./instance.ts";
import type { Registrar } from "./registrar.ts";

/** Figures of one instance, listed while it is open. */
export function metricsOf(registrar: Registrar, { metrics }: Pick<Host, "metrics">): Metrics {
  const { identity } = registrar;
  const owner: MetricOwner = { id: identity.id, isOutside: identity.origin !== "bundled" };
  const list = <T>(given: MetricSpec, declare: (spec: MetricSpec) => Declared<T>): { handle: T; listed: Disposable } => {
    // A copy: what the plugin does with its object later changes nothing.
    const declared = declare({ ...given });
    return { handle: declared.handle, listed: registrar.register(() => undefined, declared.attach) };
  };
  return {
    counter: (spec): Counter => list(spec, (own) => metrics.counter(own, owner)).handle,
    histogram: (spec): Histogram => list(spec, (own) => metrics.histogram(own, owner)).handle,
    gauge: (spec, read) => list(spec, (own) => metrics.gauge(own, owner, read)).listed,
  };
}

/** Spans that one instance remembers for queued work. */
const MAX_KEPT = 1_000;

/** Spans of one plugin, under its name. */
export function tracingOf({ identity }: Pick<Registrar, "identity">, tracer: Tracer): Tracing {
  const kept = new Map<string, string>();
  return {
    current: tracer.current,
    keep(key) {
      const traceparent = tracer.current();
      if (traceparent === undefined) return;
      kept.delete(key);
      kept.set(key, traceparent);
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    },
    span(name, { kept: key, ...options }, work) {
      const parent = key === undefined ? {} : { parent: kept.get(key) ?? "" };
      return tracer.span(name, { ...options, ...parent, owner: identity.id }, work);
    },
  };
}

/** Adds the present span to a request, unless the plugin has set one. */
export function tracedFetch(tracing: Tracing, init: RequestInit | undefined): RequestInit | undefined {
  const traceparent = tracing.current();
  if (traceparent === undefined) return init;
  const headers = new Headers(init?.headers);
  if (!headers.has("traceparent")) headers.set("traceparent", traceparent);
  return { ...init, headers };
}

/** The same for `ctx.request`. */
export function tracedRequest(tracing: Tracing, request: PluginContext["request"]): HttpRequestFunction {
  return (url, options = {}) => {
    const traceparent = tracing.current();
    if (traceparent === undefined) return request(url, options);
    return request(url, { ...options, headers: { traceparent, ...options.headers } });
  };
}
