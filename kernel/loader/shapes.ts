import { z } from "zod";
import { messageOf } from "../../sdk/errors.ts";
import { allScopes } from "../../sdk/internal/scopes.ts";
import { formatIssues, toJsonSchema, toSchema } from "../../sdk/json-schema.ts";
import type { JsonSchema, Schema } from "../../sdk/types/schema.ts";

const fn = z.custom((value) => typeof value === "function", "expected a function");
const text = z.string().min(1);
const isObject = (value: unknown) => typeof value === "object" && value !== null;

/** A tool whose schema cannot be read would fail whoever lists all tools; so it is tried here. */
const toolInput = z.unknown().superRefine((value, ctx) => {
  try {
    if (!isObject(value) || Array.isArray(value)) throw new Error("expected a schema");
    toSchema(value as Schema | JsonSchema);
    if (!isObject(toJsonSchema(value as Schema | JsonSchema))) throw new Error("expected a JSON Schema");
  } catch (error) {
    ctx.addIssue({ code: "custom", message: messageOf(error) });
  }
});

/** A page of a frame: segments without a dot in front, so it leads nowhere else. */
const isPanelPage = (path: string) =>
  path.endsWith(".html") && path.split("/").every((segment) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(segment));

/** Required shapes of registrations, as far as the gateway or another plugin relies on them: a plugin in plain JavaScript has no types. */
const shapes = {
  channel: z.object({
    id: text,
    meta: z.object({ label: text }),
    capabilities: z.object({ chatTypes: z.array(z.enum(["direct", "group", "channel"])) }),
    config: z.object({ list: fn, resolve: fn, inspect: fn, identity: fn.optional() }),
    start: fn,
    send: fn,
    target: z.object({ normalize: fn, format: fn }),
    text: z.object({ limit: z.number().positive(), unit: z.enum(["chars", "utf16", "bytes"]), render: fn }),
    edit: fn.optional(),
    unsend: fn.optional(),
    react: fn.optional(),
    typing: fn.optional(),
    probe: fn.optional(),
    audit: fn.optional(),
  }),
  check: z.object({ id: text, run: fn }),
  embeddingAdapter: z.object({
    id: text,
    vendor: z.string().optional(),
    transport: z.enum(["remote", "local"]),
    defaultModel: z.string(),
    autoSelectPriority: z.number().optional(),
    supportsMultimodal: fn.optional(),
    create: fn,
  }),
  hook: fn,
  hookPreset: z.object({
    id: text,
    mappings: z.array(z.record(z.string(), z.unknown())),
    transforms: z.record(z.string(), fn).optional(),
  }),
  http: z.object({
    method: z.union([z.string().regex(/^[A-Z-]+$/), z.array(z.string().regex(/^[A-Z-]+$/)).min(1)]),
    path: z.string().regex(/^\/($|.*[^/]$)/, "expected an absolute path without a slash at its end"),
    match: z.enum(["exact", "prefix"]),
    auth: z.enum(["gateway", "plugin"]),
    scope: z.enum(allScopes).optional(),
    maxBodyBytes: z.number().positive().optional(),
    fallback: z.boolean().optional(),
    handler: fn,
    onError: fn.optional(),
  }),
  kv: z.object({ get: fn, set: fn, delete: fn, list: fn }),
  memoryBackend: z.object({ id: text, search: fn, get: fn, status: fn, sync: fn, close: fn }),
  modelProvider: z.object({
    id: text,
    name: z.string().optional(),
    defaultModel: z.string().optional(),
    embedded: z.boolean().optional(),
    models: fn,
    available: fn,
    stream: fn,
  }),
  reload: z.object({ prefixes: z.array(text), prepare: fn }),
  rpc: z.object({
    method: text,
    scope: z.enum(["read", "write", "approvals", "pairing", "admin"]).optional(), // without one it is for administrators
    params: z.object({ "~standard": z.object({ validate: fn }) }),
    scopeFor: fn.optional(),
    hidden: z.boolean().optional(),
    handler: fn,
  }),
  service: z.custom((value) => isObject(value) || typeof value === "function", "expected an object"),
  tool: z.object({
    name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "expected a small letter, then up to 63 of a-z, 0-9 and _"),
    description: z.string(),
    input: toolInput,
    run: fn,
  }),
  uiPanel: z
    .object({
      id: z.string().regex(/^[a-z][\w-]{0,63}$/, "expected a small letter, then up to 63 letters, digits, _ and -"),
      label: z.string().min(1).max(80),
      surface: z.enum(["tab", "widget", "settings", "session", "tool", "run"]),
      icon: z
        .string()
        .regex(/^[a-z-]{1,32}$/, 'expected the name of an icon, such as "chart"')
        .optional(),
      kind: z.enum(["data", "frame"]),
      load: fn.optional(),
      src: z.string().max(200).refine(isPanelPage, 'expected an HTML file below the folder panel/, such as "index.html"').optional(),
      methods: z
        .array(z.string().regex(/^[a-z][\w.-]{0,127}$/, "expected the name of a method"))
        .max(32)
        .optional(),
    })
    .superRefine(({ kind, load, src, methods }, ctx) => {
      const wrong = (path: string, message: string) => ctx.addIssue({ code: "custom", path: [path], message });
      if (kind === "data" && load === undefined) wrong("load", "expected a function");
      if (kind === "data" && src !== undefined) wrong("src", 'only a panel of kind "frame" has it');
      if (kind === "data" && methods !== undefined)
        wrong("methods", 'only a panel of kind "frame" has them; forms and commands name theirs');
      if (kind === "frame" && load !== undefined) wrong("load", 'only a panel of kind "data" has it');
    }),
} satisfies Record<string, z.ZodType>;

/** Kind of registration: a contribution point, or `check`, `hook`, `http`, `rpc`. */
export type ShapeKind = keyof typeof shapes;

/**
 * Describes the problem with a value that a plugin registers, as `at path: reason; …`; undefined for a good one and for kinds that anyone may invent.
 * Never throws, whatever the value does when it is read.
 */
export function shapeProblem(kind: string, value: unknown): string | undefined {
  if (!Object.hasOwn(shapes, kind)) return undefined;
  try {
    const { error } = shapes[kind as ShapeKind].safeParse(value);
    return error && formatIssues(error.issues);
  } catch (error) {
    return messageOf(error);
  }
}

/** Name a contribution gives itself; undefined when its point has none. */
export function ownName(value: unknown): string | undefined {
  const { id, name } = isObject(value) ? (value as { id?: unknown; name?: unknown }) : {};
  return [id, name].find((given) => typeof given === "string") as string | undefined;
}
