import type { EndedSpan, MetricFamily, MetricSeries } from "svc/sdk";

/** Source of all that is sent. */
export interface Resource {
  serviceName: string;
  serviceVersion: string;
  instanceId: string;
}

/** Numbers of the kinds of spans in OTLP. */
const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
const STATUS_ERROR = 2;
const CUMULATIVE = 2;
const SCOPE = "svc";

/**
 * Spans as the body of a request to `/v1/traces`, grouped by their owner. Pure.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function toTracesBody(spans: readonly EndedSpan[], resource: Resource): object {
  const owners = new Map<string, EndedSpan[]>();
  for (const span of spans) owners.set(span.owner, [...(owners.get(span.owner) ?? []), span]);
  const scopeSpans = [...owners].map(([owner, own]) => ({ scope: { name: `${SCOPE}/${owner}` }, spans: own.map(toSpan) }));
  return { resourceSpans: [{ resource: toResource(resource), scopeSpans }] };
}

/** Figures as the body of a request to `/v1/metrics`; all are sums since `startedAt`. Pure. Times are milliseconds since the epoch. */
export function toMetricsBody(families: readonly MetricFamily[], resource: Resource, at: { startedAt: number; now: number }): object {
  const metrics = families.filter(({ series }) => series.length > 0).map((family) => toMetric(family, at));
  return { resourceMetrics: [{ resource: toResource(resource), scopeMetrics: [{ scope: { name: SCOPE }, metrics }] }] };
}

function toSpan(span: EndedSpan): object {
  const { traceId, spanId, parentId, name, kind, startedAt, endedAt, attributes, error } = span;
  return {
    traceId,
    spanId,
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanos(startedAt),
    endTimeUnixNano: nanos(endedAt),
    attributes: toAttributes(attributes),
    ...(error === undefined ? {} : { status: { code: STATUS_ERROR, message: error } }),
  };
}

function toMetric(family: MetricFamily, { startedAt, now }: { startedAt: number; now: number }): object {
  const { name, help, kind, labels, buckets, series } = family;
  const base = ({ labelValues }: MetricSeries) => ({
    attributes: toAttributes(Object.fromEntries(labels.map((label, i) => [label, labelValues[i] ?? ""]))),
    startTimeUnixNano: nanos(startedAt),
    timeUnixNano: nanos(now),
  });
  const head = { name: `svc_${name}`, description: help, unit: unitOf(name) };
  if (kind === "histogram") {
    const dataPoints = series.map((one) => ({ ...base(one), ...bucketsOf(one), explicitBounds: buckets ?? [] }));
    return { ...head, histogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
  }
  const dataPoints = series.map((one) => ({ ...base(one), asDouble: one.value }));
  if (kind === "gauge") return { ...head, gauge: { dataPoints } };
  return { ...head, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
}

/** OTLP counts each bucket by itself, and one more for what is above the last bound. 64-bit numbers are texts in its JSON. */
function bucketsOf({ value, count = 0, cumulative = [] }: MetricSeries): object {
  const upTo = [0, ...cumulative, count];
  const bucketCounts = upTo.slice(1).map((n, i) => String(n - (upTo[i] as number)));
  return { count: String(count), sum: value, bucketCounts };
}

function toResource({ serviceName, serviceVersion, instanceId }: Resource): object {
  return {
    attributes: toAttributes({ "service.name": serviceName, "service.version": serviceVersion, "service.instance.id": instanceId }),
  };
}

function toAttributes(attributes: Readonly<Record<string, string | number | boolean>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

function toValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Units as UCUM writes them. */
function unitOf(name: string): string {
  if (name.endsWith("_ms")) return "ms";
  return name.endsWith("_bytes") ? "By" : "1";
}

/** Nanoseconds are more than a number holds exactly; the digits behind the microsecond are zeros. */
function nanos(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
