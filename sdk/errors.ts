/** Top-level error codes of the control protocol; the set is closed. */
export type RpcCode = "INVALID_REQUEST" | "FORBIDDEN" | "NOT_PAIRED" | "APPROVAL_NOT_FOUND" | "UNAVAILABLE";

/** What an error code means everywhere: its text, its HTTP and protocol form, its exit code. */
export interface ErrorSpec {
  /** `{field}` is replaced by `fields.field`. */
  message: string;
  http: number;
  rpc: RpcCode;
  /** `details.code` on the wire; other `details` come from the fields named in `expose`. */
  details?: string;
  /** Fields copied into `details`. */
  expose?: readonly string[];
  /** Exit code of the process or the command. */
  exit?: number;
  retryable?: boolean;
}

const registry = new Map<string, ErrorSpec>();

/**
 * Adds a table of error codes. Each layer and plugin has one; a code means one thing for ever.
 * @throws {Error} when a code is already defined differently
 */
export function defineErrors<T extends Record<string, ErrorSpec>>(table: T): T {
  for (const [code, spec] of Object.entries(table)) {
    const known = registry.get(code);
    if (known && known.message !== spec.message) throw new Error(`error code "${code}" is defined twice with different meanings`);
    registry.set(code, spec);
  }
  return table;
}

/** Every code defined so far in this process, for the reference page and its test. */
export function definedErrors(): ReadonlyMap<string, ErrorSpec> {
  return registry;
}

/** What one error carries besides the fields of its text. */
export interface SvcErrorOptions {
  cause?: unknown;
  /** Sent as `payload` beside `error` in a failed `res`. */
  payload?: unknown;
  retryAfterMs?: number;
  /** Replaces the `details.code` of the table. */
  details?: string;
}

/**
 * The one error class. `code` is stable, the message is for people: subject, what is wrong, what was expected, what to do; one line, no secret.
 * Works across threads and SDK copies by `code` and `fields`, see `toPlain`/`fromPlain`.
 */
export class SvcError extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;
  readonly payload: unknown;
  readonly retryAfterMs: number | undefined;
  readonly spec: ErrorSpec;
  readonly #details: string | undefined;

  constructor(code: string, fields: Record<string, unknown> = {}, options: SvcErrorOptions = {}) {
    const spec = registry.get(code) ?? { message: String(fields.message ?? code), http: 500, rpc: "UNAVAILABLE" as const };
    super(
      spec.message.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name] ?? "")),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = "SvcError";
    this.code = code;
    this.fields = fields;
    this.spec = spec;
    this.payload = options.payload;
    this.retryAfterMs = options.retryAfterMs === undefined ? undefined : Math.ceil(options.retryAfterMs);
    this.#details = options.details;
  }

  /** `details` of the wire error, or undefined when there is nothing to tell. */
  get details(): Record<string, unknown> | undefined {
    const code = this.#details ?? this.spec.details;
    const exposed = Object.fromEntries(
      (this.spec.expose ?? []).filter((f) => this.fields[f] !== undefined).map((f) => [f, this.fields[f]]),
    );
    return code === undefined && Object.keys(exposed).length === 0 ? undefined : { ...(code === undefined ? {} : { code }), ...exposed };
  }

  /** Plain data that survives a thread border. */
  toPlain(): { code: string; fields: Record<string, unknown>; message: string } {
    return { code: this.code, fields: this.fields, message: this.message };
  }

  static fromPlain(plain: { code: string; fields?: Record<string, unknown>; message?: string }): SvcError {
    return new SvcError(plain.code, { message: plain.message, ...plain.fields });
  }
}

/** True for an `SvcError` of any SDK copy, optionally of one code. */
export function isSvcError(error: unknown, code?: string): error is SvcError {
  return error instanceof Error && error.name === "SvcError" && (code === undefined || (error as SvcError).code === code);
}

/** Message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

defineErrors({
  "invalid-config": { message: "{message}", http: 500, rpc: "INVALID_REQUEST", exit: 78 },
  "invalid-params": { message: "invalid {method} params: {issues}", http: 400, rpc: "INVALID_REQUEST" },
  "invalid-json": { message: "the request body is not valid JSON: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "content-encoding": {
    message: "the request body is compressed; expected Content-Encoding identity or none",
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "payload-too-large": { message: "the request body is larger than {maxBytes} bytes", http: 413, rpc: "INVALID_REQUEST" },
  "client-gone": { message: "the connection ended before the request was whole", http: 400, rpc: "INVALID_REQUEST" },
  "request-timeout": { message: "the request body did not arrive within {seconds} s", http: 408, rpc: "INVALID_REQUEST" },
  "unknown-delivery": {
    message: 'no delivery "{uid}"; svc hooks list and svc channels queue list show those that are kept',
    http: 404,
    rpc: "INVALID_REQUEST",
  },
  "unknown-agent": {
    message: 'unknown agent id "{agentId}"',
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "UNKNOWN_AGENT_ID",
    expose: ["agentId"],
  },
  "invalid-session-key": { message: "invalid session key: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "service-unavailable": {
    message: 'service "{service}" is not available{why}; see svc plugins list',
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "plugin-disposed": { message: 'plugin "{plugin}": its context was used after it stopped', http: 500, rpc: "UNAVAILABLE" },
  "gateway-unreachable": {
    message: "gateway not reachable at {url}: {reason}; {advice}",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "client-unauthorized": { message: "{message}", http: 401, rpc: "INVALID_REQUEST", exit: 1 },
  "request-timed-out": { message: "{method}: no answer within {timeoutMs} ms", http: 504, rpc: "UNAVAILABLE", exit: 1 },
  "connection-closed": {
    message: "the connection to the gateway closed ({code} {reason})",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
    retryable: true,
  },
  "worker-down": { message: 'worker "{worker}" is not running; it will be restarted', http: 503, rpc: "UNAVAILABLE", retryable: true },
  busy: { message: "too many requests are waiting; try again", http: 503, rpc: "UNAVAILABLE", details: "BUSY", retryable: true },
  usage: { message: "{message}", http: 400, rpc: "INVALID_REQUEST", exit: 2 },
  failed: { message: "{message}", http: 500, rpc: "UNAVAILABLE", exit: 1 },
  "missing-dependency": {
    message: '{plugin}: its package "{name}" is not installed; run: npm ci --prefix {prefix}',
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});
