import { type EndedSpan, messageOf, type PluginContext, type SvcConfig, settledWithin } from "svc/sdk";
import { type Resource, toMetricsBody, toTracesBody } from "./encode.ts";
import { type Sent, send } from "./sender.ts";

/** The default of the protocol: a collector on this machine. */
const DEFAULT_ENDPOINT = "http://127.0.0.1:4318";
/** Spans that wait to be sent; what comes after them is dropped and counted. */
const MAX_WAITING = 2_048;
const MAX_BATCH = 512;
/** A stop waits so long for the last batch. */
const LAST_MS = 2_000;

export interface OtelExport {
  /** Records nothing more and sends what waits, 2 s at most. */
  stop(): Promise<void>;
}

/** Records spans and sends them, and the figures, at each interval. Nothing in the gateway ever waits for a collector. */
export function startExport(ctx: PluginContext<unknown>, { diagnostics: { otel } }: SvcConfig): OtelExport {
  const exporter = new Exporter(ctx, otel);
  const recording = ctx.service("diagnostics@1").recordSpans((span) => exporter.add(span), { sampleRate: otel.sampleRate });
  const check = ctx.registerHealthCheck({
    id: "collector",
    run() {
      const { problem } = exporter;
      if (problem === undefined) return { ok: true, level: "info", message: "the collector takes traces and metrics" };
      return { ok: false, level: "warning", message: `traces and metrics are lost: ${problem}`, fix: "see diagnostics.otel" };
    },
  });
  const interval = ctx.timers.setInterval(() => exporter.flush(), otel.flushIntervalMs);
  return {
    async stop() {
      void recording.dispose();
      void interval.dispose();
      void check.dispose();
      await exporter.end();
    },
  };
}

type Settings = SvcConfig["diagnostics"]["otel"];

class Exporter {
  readonly #ctx: PluginContext<unknown>;
  readonly #url: (signal: "traces" | "metrics") => string;
  readonly #headers: Record<string, string>;
  readonly #resource: Resource;
  readonly #startedAt: number;
  readonly #ending = new AbortController();
  readonly #count: (outcome: "sent" | "dropped" | "rejected", spans: number) => void;
  #waiting: EndedSpan[] = [];
  #spans: Promise<void> | undefined;
  #metrics: Promise<void> | undefined;
  /** Reason why the last request was in vain. */
  #problem: string | undefined;

  constructor(ctx: PluginContext<unknown>, otel: Settings) {
    const { version, bootId, startedAt } = ctx.service("gateway@1").info();
    this.#ctx = ctx;
    const base = withoutSlash(otel.endpoint ?? DEFAULT_ENDPOINT);
    this.#url = (signal) => `${base}/v1/${signal}`;
    this.#headers = headersOf(ctx, otel);
    this.#resource = { serviceName: otel.serviceName, serviceVersion: version, instanceId: bootId };
    this.#startedAt = startedAt;
    const counter = ctx.metrics.counter({ name: "otel_spans_total", help: "Spans by what became of them", labels: ["outcome"] });
    this.#count = (outcome, spans) => counter.add(spans, outcome);
  }

  /** Takes a span; at once, whatever the collector does. */
  add(span: EndedSpan): void {
    if (this.#waiting.length >= MAX_WAITING) return this.#count("dropped", 1);
    this.#waiting.push(span);
    if (this.#waiting.length >= MAX_BATCH) this.#sendSpans();
  }

  flush(): void {
    this.#sendSpans();
    this.#metrics ??= this.#sendMetrics().finally(() => {
      this.#metrics = undefined;
    });
  }

  /** Reason why the collector does not take what it is sent. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async end(): Promise<void> {
    this.flush();
    await settledWithin(Promise.all([this.#spans, this.#metrics]), LAST_MS);
    this.#ending.abort(new Error("the export has ended"));
    this.#count("dropped", this.#waiting.length);
    this.#waiting = [];
  }

  #sendSpans(): void {
    if (this.#spans || this.#waiting.length === 0) return;
    this.#spans = this.#sendAll().finally(() => {
      this.#spans = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#ending.signal.aborted) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const sent = await this.#send("traces", toTracesBody(batch, this.#resource));
      if (sent.state === "dropped") this.#count("dropped", batch.length);
      else {
        this.#count("sent", batch.length - sent.rejected);
        this.#count("rejected", sent.rejected);
      }
    }
  }

  /** Figures are sums since the start: those that do not arrive are in the next ones. */
  async #sendMetrics(): Promise<void> {
    const families = this.#ctx.service("diagnostics@1").metrics();
    const at = { startedAt: this.#startedAt, now: this.#ctx.clock.now() };
    await this.#send("metrics", toMetricsBody(families, this.#resource, at));
  }

  async #send(signal: "traces" | "metrics", body: object): Promise<Sent> {
    const sent = await send(this.#url(signal), body, { ctx: this.#ctx, headers: this.#headers, signal: this.#ending.signal });
    this.#tell(sent.reason);
    return sent;
  }

  /** One line when a collector stops to take what it is sent, one when it does again. */
  #tell(problem: string | undefined): void {
    const before = this.#problem;
    this.#problem = problem;
    if (this.#ending.signal.aborted || problem === before) return;
    if (problem === undefined) this.#ctx.logger.info("the collector takes traces and metrics again");
    else this.#ctx.logger.warn("traces and metrics are not taken by the collector", { reason: problem });
  }
}

/** Headers with their secrets; one that has lost its value is left out and named. */
function headersOf(ctx: PluginContext<unknown>, { headers = {} }: Settings): Record<string, string> {
  const known = Object.keys(headers).flatMap((name) => {
    try {
      const value = ctx.secret(`diagnostics.otel.headers[${JSON.stringify(name)}]`);
      return value === undefined ? [] : [[name, value] as const];
    } catch (error) {
      ctx.logger.warn(`diagnostics.otel.headers: ${name} is left out: ${messageOf(error)}`);
      return [];
    }
  });
  return Object.fromEntries(known);
}

function withoutSlash(url: string): string {
  return url.endsWith("/") ? withoutSlash(url.slice(0, -1)) : url;
}
