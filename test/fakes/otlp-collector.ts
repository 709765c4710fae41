import { z } from "zod";
import { type ModelServer, type ModelServerAnswer, startModelServer } from "./model-server.ts";

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
/** A 64-bit number, which the JSON of protocol buffers writes as text. */
const big = z.string().regex(/^\d{1,20}$/);
const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ boolValue: z.boolean() }),
    z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
    z.strictObject({ doubleValue: z.number() }),
  ]),
});
const attributes = z.array(attribute);
const resource = z.strictObject({ attributes });

const span = z
  .strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16).optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: big,
    endTimeUnixNano: big,
    attributes,
    status: z.strictObject({ code: z.literal(2), message: z.string() }).optional(),
  })
  .refine(({ startTimeUnixNano, endTimeUnixNano }) => BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano), "it ends before it starts");
const scope = z.strictObject({ name: z.string().min(1) });
const tracesBody = z.strictObject({
  resourceSpans: z.array(z.strictObject({ resource, scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span).min(1) })) })),
});

const point = { attributes, startTimeUnixNano: big, timeUnixNano: big };
const number = z.strictObject({ ...point, asDouble: z.number() });
const histogram = z
  .strictObject({ ...point, count: big, sum: z.number(), bucketCounts: z.array(big), explicitBounds: z.array(z.number()) })
  .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1, "there is one bucket more than bounds")
  .refine(
    ({ bucketCounts, count }) => bucketCounts.reduce((sum, n) => sum + Number(n), 0) === Number(count),
    "buckets add up to the count",
  );
const head = { name: z.string().min(1), description: z.string(), unit: z.enum(["1", "ms", "By"]) };
const temporality = z.literal(2);
const metric = z.union([
  z.strictObject({ ...head, gauge: z.strictObject({ dataPoints: z.array(number).min(1) }) }),
  z.strictObject({
    ...head,
    sum: z.strictObject({ aggregationTemporality: temporality, isMonotonic: z.literal(true), dataPoints: z.array(number).min(1) }),
  }),
  z.strictObject({ ...head, histogram: z.strictObject({ aggregationTemporality: temporality, dataPoints: z.array(histogram).min(1) }) }),
]);
const metricsBody = z.strictObject({
  resourceMetrics: z.array(z.strictObject({ resource, scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })) })),
});

export type ReceivedSpan = z.output<typeof span> & { owner: string };
export type ReceivedMetric = z.output<typeof metric>;

export interface OtlpCollector {
  /** Endpoint without the path of a signal. */
  origin: string;
  spans: ReceivedSpan[];
  metrics: ReceivedMetric[];
  resources: Array<z.output<typeof resource>>;
  /** Problems of what was received: paths, headers, shapes. */
  problems: string[];
  requests: ModelServer["requests"];
  /** Answers the next requests with these instead of 200, in turn. */
  answerNext(...answers: ModelServerAnswer[]): void;
  close(): Promise<void>;
}

/** A collector that takes OTLP over HTTP as JSON, and checks every request against the shape that the protocol gives it. @param headers that each request has to carry */
export async function startOtlpCollector(headers: Readonly<Record<string, string>> = {}): Promise<OtlpCollector> {
  const received: Pick<OtlpCollector, "spans" | "metrics" | "resources" | "problems"> = {
    spans: [],
    metrics: [],
    resources: [],
    problems: [],
  };
  let next: ModelServerAnswer[] = [];
  const server = await startModelServer((request) => {
    const answer = next.shift();
    if (answer) return answer;
    for (const [name, value] of Object.entries({ "content-type": "application/json", ...headers }))
      if (request.headers[name] !== value) received.problems.push(`${request.path}: header ${name} is ${request.headers[name]}`);
    if (request.method === "POST" && request.path === "/v1/traces") takeTraces(request.body, received);
    else if (request.method === "POST" && request.path === "/v1/metrics") takeMetrics(request.body, received);
    else received.problems.push(`${request.method} ${request.path}`);
    return { kind: "json", status: 200, body: {} };
  });
  const { origin, requests, close } = server;
  const answerNext = (...answers: ModelServerAnswer[]) => {
    next = answers;
  };
  return { origin, requests, close, ...received, answerNext };
}

type Received = Pick<OtlpCollector, "spans" | "metrics" | "resources" | "problems">;

function takeTraces(body: unknown, received: Received): void {
  const parsed = tracesBody.safeParse(body);
  if (!parsed.success) return void received.problems.push(z.prettifyError(parsed.error));
  for (const { resource: from, scopeSpans } of parsed.data.resourceSpans) {
    received.resources.push(from);
    for (const one of scopeSpans) received.spans.push(...one.spans.map((own) => ({ ...own, owner: one.scope.name })));
  }
}

function takeMetrics(body: unknown, received: Received): void {
  const parsed = metricsBody.safeParse(body);
  if (!parsed.success) return void received.problems.push(z.prettifyError(parsed.error));
  for (const { scopeMetrics } of parsed.data.resourceMetrics) for (const one of scopeMetrics) received.metrics.push(...one.metrics);
}
