import { z } from "zod";
import { idExpectation, idPattern } from "../text/id-text.ts";

/** Placeholder for a secret. */
export const REDACTED_VALUE = "__SVC_REDACTED__";

/** A default that holds at once; `shown` is its readable form in the generated documents. */
export function defaulted<S extends z.ZodType>(schema: S, value: z.output<S>, shown?: unknown) {
  const made = schema.default(value as never);
  return shown === undefined ? made : made.meta({ default: shown });
}

/** An optional key whose default is applied by its reader, because values of several levels are merged first; `value` documents it. */
export function documented<S extends z.ZodType>(schema: S, value: unknown) {
  return schema.optional().meta({ default: value });
}

/** Other names of the members of a {@link choice}, each with the name that it stands for. */
export type Aliases = Readonly<Record<string, string>>;

/** By the definition, which a schema keeps when it is copied to get a description. */
const aliases = new WeakMap<object, Aliases>();

/** Other names that a schema made by {@link choice} takes; undefined for any other schema. */
export function aliasesOf(schema: z.ZodType): Aliases | undefined {
  return aliases.get(schema.def);
}

/** One of some names, or another name of one of them, which is read as that one. */
export function choice<const N extends string, const A extends string = never>(
  names: readonly N[],
  others: Readonly<Record<A, NoInfer<N>>>,
): z.ZodType<N, N | A> {
  const all = z.enum<Array<N | A>>([...names, ...(Object.keys(others) as A[])]);
  const schema = all.transform((name): N => (Object.hasOwn(others, name) ? others[name as A] : (name as N)));
  aliases.set(schema.def, others);
  return schema;
}

const providerAlias = /^[a-z][a-z0-9_-]{0,63}$/;

/** Name of a secret provider: key of `secrets.providers`, `provider` of a SecretRef. */
export const secretProviderAlias = () =>
  z.string().regex(providerAlias, "expected a lower-case letter, then lower-case letters, digits, _ or -, at most 64");

/** Absent: `secrets.defaults.<source>`. */
const provider = secretProviderAlias().optional();
const environmentName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,127}$/, "expected the name of an environment variable: upper-case letters, digits and _, at most 128");
const filePointer = z.string().regex(/^(value|(\/([^~/]|~[01])*)+)$/, 'expected a JSON pointer such as "/vendor/key", or "value"');
const commandId = z
  .string()
  .regex(
    /^(?!(?:.*\/)?\.{1,2}(?:\/|$))[A-Za-z0-9][A-Za-z0-9._:/#-]{0,255}$/,
    "expected letters, digits and . _ : / # -, at most 256, without . or .. as a segment",
  );

/** Reference to the place where a secret is kept. */
export const secretRefSchema = z.discriminatedUnion("source", [
  z.strictObject({ source: z.literal("env"), provider, id: environmentName }),
  z.strictObject({ source: z.literal("file"), provider, id: filePointer }),
  z.strictObject({ source: z.literal("exec"), provider, id: commandId }),
]);

/** A reference to a secret, as written. */
export type SecretRef = z.output<typeof secretRefSchema>;

/**
 * A value that is never printed, logged or returned: a text, or a {@link SecretRef} in its place.
 * Its output type is the text: references are replaced by what they stand for, or left out, before a config becomes effective.
 */
export const secret = () =>
  z
    .union([z.string().min(1), secretRefSchema], {
      error: (issue) =>
        issue.code === "invalid_union" ? 'expected a text, or a reference such as {source: "env", id: "NAME"}' : undefined,
    })
    .meta({ sensitive: true }) as unknown as z.ZodType<string, string | SecretRef>;

/** Address of a server: `https://host/path`. */
export const httpUrl = () => z.url({ protocol: /^https?$/, error: 'expected an address such as "https://host.example/path"' });

/** An id from outside: of a session, run, device, place. */
export const idText = (maxChars: number) => z.string().min(1).max(maxChars).regex(idPattern, idExpectation);

/** A path on this machine. */
export const pathText = () => z.string().min(1).max(4_096);

/** A regular expression; one whose repetitions are nested is refused, because a crafted text could make it run without end. */
export const pattern = () =>
  z.string().min(1).max(1_000).refine(isSafePattern, { error: "expected a regular expression without a repetition inside a repetition" });

function isSafePattern(text: string): boolean {
  try {
    new RegExp(text, "u");
  } catch {
    return false;
  }
  return !hasNestedRepetition(text);
}

/** Is a group repeated that holds a repetition itself? */
function hasNestedRepetition(text: string): boolean {
  const plain = text.replace(/\\./gs, "x").replace(/\[[^\]]*(?:\]|$)/g, "x");
  const groups: boolean[] = [];
  let closed = false;
  for (let i = 0; i < plain.length; i++) {
    const at = plain[i] as string;
    const repeats = at === "*" || at === "+" || (at === "{" && /^\{\d+(?:,\d*)?\}/.test(plain.slice(i)));
    if (repeats && closed) return true;
    closed = false;
    if (at === "(") groups.push(false);
    else if (repeats) groups.splice(0, groups.length, ...groups.map(() => true));
    else if (at === ")") closed = groups.pop() ?? false;
  }
  return false;
}

/** Id of an agent: also the last part of `svc/<agentId>` and of session keys. */
export const agentIdPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** An agent id. */
export const agentId = () =>
  z.string().regex(agentIdPattern, "expected lower-case letters, digits, _ or -, at most 64, starting with a letter or digit");
