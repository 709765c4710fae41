import type { JsonSchema } from "./types/schema.ts";

/** Top-level error codes of the control protocol; the set is closed. */
export type RpcCode = "INVALID_REQUEST" | "FORBIDDEN" | "NOT_PAIRED" | "APPROVAL_NOT_FOUND" | "UNAVAILABLE";

/** Definition of an error code: its text, its HTTP and protocol form, its exit code. */
export interface ErrorSpec {
  /** `{field}` is replaced by `fields.field`; `{field?}` is empty when the error has no such field. */
  message: string;
  http: number;
  rpc: RpcCode;
  /** `details.code` on the wire; other `details` come from the fields named in `expose`. */
  details?: string;
  /** Fields copied into `details`: the JSON Schema of each, by name. A list of names says nothing of their values. */
  expose?: readonly string[] | Readonly<Record<string, JsonSchema>>;
  /** Exit code of the process or the command. */
  exit?: number;
  retryable?: boolean;
}

/** `storage-busy` as the name of a function: `storageBusy`. */
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;

/** Names in braces of a message that an error must fill; a name with a question mark may be left out. */
type Placeholder<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${string}?` ? never : Name) | Placeholder<Rest>
  : never;

/** Type of a value by its schema, as far as a plain `type` tells. */
type ValueOf<S> = S extends { readonly type: infer T } ? TypeNamed<T extends readonly (infer One)[] ? One : T> : unknown;
type TypeNamed<T> = T extends "string"
  ? string
  : T extends "integer" | "number"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "array"
        ? readonly unknown[]
        : T extends "null"
          ? null
          : unknown;

/** Exposed fields whose schemas the specification gives; each may be left out. */
type ExposedFields<Spec extends ErrorSpec> = Spec["expose"] extends infer Fields
  ? Fields extends readonly string[] | undefined
    ? unknown
    : { [name in keyof Fields]?: ValueOf<Fields[name]> | undefined }
  : unknown;

/** Fields of an error: those its message names are required, exposed ones fit their schemas, others may come along. */
type FieldsOf<Spec extends ErrorSpec> = { [name in Placeholder<Spec["message"]>]: unknown } & ExposedFields<Spec> & Record<string, unknown>;

/** Makes one error of a table; the fields may be left out when the message names none. */
export type CreateError<Spec extends ErrorSpec> = [Placeholder<Spec["message"]>] extends [never]
  ? (fields?: FieldsOf<Spec>, options?: SvcErrorOptions) => SvcError
  : (fields: FieldsOf<Spec>, options?: SvcErrorOptions) => SvcError;

/** One function for each code of a table: `storage-busy` is made by `storageBusy(fields)`. */
export type ErrorTable<T extends Record<string, ErrorSpec>> = {
  readonly [code in keyof T & string as CamelCase<code>]: CreateError<T[code]>;
};

const specsByTable = new WeakMap<object, Readonly<Record<string, ErrorSpec>>>();

/**
 * Makes the errors of one layer or plugin: `const errors = defineErrors({ "no-tide": { message: "no tide at {place}", … } })`, then
 * `throw errors.noTide({ place })`. A code means one thing for ever and stands in one table only.
 */
export function defineErrors<const T extends Record<string, ErrorSpec>>(table: T): ErrorTable<T> {
  const creators: Record<string, unknown> = {};
  for (const [code, spec] of Object.entries(table)) {
    const create = (fields?: Record<string, unknown>, options?: SvcErrorOptions) => {
      const error = new SvcError(code, spec, fields, options);
      Error.captureStackTrace?.(error, create);
      return error;
    };
    creators[camelCase(code)] = create;
  }
  const made = Object.freeze(creators);
  specsByTable.set(made, table);
  return made as ErrorTable<T>;
}

/** The specifications of a table made by `defineErrors`, by code; undefined for any other value. */
export function errorSpecsOf(table: unknown): Readonly<Record<string, ErrorSpec>> | undefined {
  return typeof table === "object" && table !== null ? specsByTable.get(table) : undefined;
}

/**
 * Makes the error of a table by a code that is known only at run time, such as one that crossed a thread border.
 * @throws {TypeError} when the table has no such code
 */
export function createError(table: object, code: string, fields?: Record<string, unknown>, options?: SvcErrorOptions): SvcError {
  const spec = specsByTable.get(table)?.[code];
  if (!spec) throw new TypeError(`"${code}" is not a code of this table of errors`);
  return new SvcError(code, spec, fields, options);
}

function camelCase(code: string): string {
  return code.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Data of one error besides the fields of its text. */
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
 * Made by the functions of a table, see `defineErrors`. Works across threads and SDK copies by `code` and `fields`, see `toPlain`/`fromPlain`.
 */
export class SvcError extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;
  readonly payload: unknown;
  readonly retryAfterMs: number | undefined;
  readonly spec: ErrorSpec;
  readonly #details: string | undefined;

  constructor(code: string, spec: ErrorSpec, fields: Record<string, unknown> = {}, options: SvcErrorOptions = {}) {
    super(
      spec.message.replace(/\{(\w+)\??\}/g, (_, name: string) => String(fields[name] ?? "")),
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
      exposedNames(this.spec)
        .filter((f) => this.fields[f] !== undefined)
        .map((f) => [f, this.fields[f]]),
    );
    return code === undefined && Object.keys(exposed).length === 0 ? undefined : { ...(code === undefined ? {} : { code }), ...exposed };
  }

  /** Plain data that survives a thread border. */
  toPlain(): PlainError {
    return { code: this.code, fields: this.fields, message: this.message, spec: { ...this.spec, message: this.message } };
  }

  /** The error that `toPlain` was asked of; one without a specification counts as a fault of the program. */
  static fromPlain(plain: PlainError): SvcError {
    const spec: ErrorSpec = plain.spec ?? { message: plain.message ?? plain.code, http: 500, rpc: "UNAVAILABLE" };
    // The text is finished: a brace that came in with a field is no placeholder any more.
    const error = new SvcError(plain.code, { ...spec, message: "" }, plain.fields);
    error.message = plain.message ?? spec.message;
    return error;
  }
}

/** Names of the fields that an error shows in `details`. */
function exposedNames({ expose = [] }: ErrorSpec): readonly string[] {
  return Array.isArray(expose) ? expose : Object.keys(expose);
}

/** An `SvcError` as plain data. */
export interface PlainError {
  code: string;
  fields: Record<string, unknown>;
  message?: string;
  /** Left out by code that knows no table; the error then counts as a fault of the program. */
  spec?: ErrorSpec;
}

/** True for an `SvcError` of any SDK copy, optionally of one code. */
export function isSvcError(error: unknown, code?: string): error is SvcError {
  return error instanceof Error && error.name === "SvcError" && (code === undefined || (error as SvcError).code === code);
}

/** Message of anything thrown. Never throws itself: a thrown value may have no text form, or a getter in place of its message. */
export function messageOf(error: unknown): string {
  try {
    // Node's own error for a name with several addresses has no message: those of the addresses do.
    if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "a thrown value that has no text";
  }
}

/** Codes that every layer and plugin may use. */
export const commonErrors = defineErrors({
  "invalid-config": { message: "{message}", http: 500, rpc: "INVALID_REQUEST", exit: 78 },
  "invalid-params": { message: "invalid {method} params: {issues}", http: 400, rpc: "INVALID_REQUEST" },
  "invalid-json": { message: "the request body is not valid JSON: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "content-encoding": {
    message: "the request body is compressed; expected Content-Encoding identity or none",
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "payload-too-large": { message: "the request body is larger than {maxBytes} bytes", http: 413, rpc: "INVALID_REQUEST" },
  "media-too-large": {
    message: "the attachment is larger than {maxBytes} bytes",
    http: 413,
    rpc: "INVALID_REQUEST",
    expose: { maxBytes: { type: "integer" } },
  },
  "client-gone": { message: "the connection ended before the request was complete", http: 400, rpc: "INVALID_REQUEST" },
  "request-timeout": { message: "the request body did not arrive within {seconds} s", http: 408, rpc: "INVALID_REQUEST" },
  "unknown-delivery": {
    message: 'no delivery "{uid}"; svc hooks list and svc channels queue list show the ones that are kept',
    http: 404,
    rpc: "INVALID_REQUEST",
  },
  "unknown-agent": {
    message: 'unknown agent id "{agentId}"',
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "UNKNOWN_AGENT_ID",
    expose: { agentId: { type: "string" } },
  },
  "memory-note-missing": { message: 'there is no note "{path}"', http: 404, rpc: "INVALID_REQUEST" },
  "invalid-session-key": { message: "invalid session key: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "service-unavailable": {
    message: 'service "{service}" is not available{why?}; see svc plugins list',
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
    message: '{plugin}: its package "{name}" {problem}; {advice}',
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});

/** Codes of asking for a hook. */
export const hookErrors = defineErrors({
  "unknown-hook": { message: 'there is no hook "{hook}"; the page "Hooks" of the reference lists them', http: 500, rpc: "UNAVAILABLE" },
});
