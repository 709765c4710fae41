import type { Disposable } from "./common.ts";
import type { MetricFamily } from "./metrics.ts";

/** Facts about a span; no secrets and no texts of people. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work that is being recorded. */
export interface ActiveSpan {
  /** Adds facts. Without effect while nobody records. */
  set(attributes: SpanAttributes): void;
  /** Marks it as failed; a throw does so by itself. */
  fail(message: string): void;
}

/** Subject of a span. */
export interface SpanOptions {
  /** `server`: a request from outside; `client`: one to the outside. Default `internal`. */
  kind?: "internal" | "server" | "client" | "producer" | "consumer";
  /** Key under which `keep` remembered the work that it belongs to; what was forgotten is a new trace. Default: the span that the calling code runs in. */
  kept?: string;
  attributes?: SpanAttributes;
}

/** Traces of the work of a plugin. While nobody records them `span` only calls `work`. */
export interface Tracing {
  /** W3C `traceparent` of the present work; undefined while nobody records, and outside of any span. */
  current(): string | undefined;
  /** Remembers the present span for work that is queued under this key, until 1,000 later ones were remembered. */
  keep(key: string): void;
  /** Runs work as a span, a child of the present one; requests that it makes by `ctx.fetch` and `ctx.request` carry its `traceparent`. */
  span<T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => Promise<T>): Promise<T>;
}

/** A span that has ended. Times are milliseconds since the epoch, with fractions. */
export interface EndedSpan {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  parentId?: string;
  name: string;
  kind: NonNullable<SpanOptions["kind"]>;
  startedAt: number;
  endedAt: number;
  attributes: SpanAttributes;
  /** Present when it failed: why. */
  error?: string;
  /** Plugin whose work it was, or `kernel`. */
  owner: string;
}

/** Service `diagnostics@1`, provided by the kernel: what exporters read. */
export interface Diagnostics {
  /** Every metric with its present values, by name. */
  metrics(): MetricFamily[];
  /** Records spans until disposed; the listener must be quick. @param options.sampleRate share of new traces, 0 to 1; a trace from outside keeps its own decision */
  recordSpans(listener: (span: EndedSpan) => void, options: { sampleRate: number }): Disposable;
}
