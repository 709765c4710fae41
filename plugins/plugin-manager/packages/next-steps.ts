import { isRecord, type PluginCandidate } from "svc/sdk";

/** Keys of a channel's section that an account lacks, by the manifest alone. */
export interface NextSteps {
  isConfigured: boolean;
  /** Required keys that are not set. */
  missing: string[];
  /** Credentials that the channel knows and that are not set, with the variables that may hold them. */
  credentials: Array<{ path: string; env: string[] }>;
  lines: string[];
}

/**
 * Finds what an operator does next: which keys to write, which credentials are not there. Pure.
 * @param options.lacking keys that the account lacks by the channel's own word; without it the schema of the manifest has to do
 */
export function nextSteps(
  channel: string,
  { id, manifest, problem }: Pick<PluginCandidate, "id" | "manifest" | "problem">,
  {
    section,
    env,
    lacking,
  }: { section: unknown; env: Readonly<Record<string, string | undefined>>; lacking?: readonly string[] | undefined },
): NextSteps {
  const schema = manifest?.channelConfigs?.[channel];
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const required = lacking ?? (isRecord(schema) && Array.isArray(schema.required) ? schema.required.map(String) : []);
  const own = isRecord(section) ? section : {};
  const accounts = isRecord(own.accounts) ? Object.values(own.accounts).filter(isRecord) : [];
  const isSet = (path: readonly string[]) => [own, ...accounts].some((one) => hasValue(one, path));
  const missing = lacking ? [...lacking] : required.filter((key) => !isSet([key]));
  const credentials = (manifest?.secrets ?? [])
    .filter(({ path }) => path.startsWith(`channels.${channel}.`) && !path.startsWith(`channels.${channel}.accounts.`))
    .filter(({ path, env: names = [] }) => !isSet(path.split(".").slice(2)) && !names.some((name) => env[name]))
    .map(({ path, env: names = [] }) => ({ path, env: names }));
  const isConfigured = isRecord(section) && missing.length === 0;
  const lines = [
    ...(problem ? [`The plugin ${id} does not load: ${problem.reason}${problem.hint ? `; ${problem.hint}` : ""}`] : []),
    ...(isConfigured ? [] : keyLines(channel, properties, required)),
    ...(missing.length > 0 && isRecord(section) ? [`Not set yet: ${missing.map((key) => `channels.${channel}.${key}`).join(", ")}`] : []),
    ...credentials.map(({ path, env: names }) => `Credential not set: ${path}${names.length > 0 ? ` (or ${names.join(", ")})` : ""}`),
    ...(isConfigured ? [`The account is in the config; see: svc channels status --probe`] : ["Then: svc channels status --probe"]),
  ];
  return { isConfigured, missing, credentials, lines };
}

/** The command that writes the section, and its keys with what they mean. */
function keyLines(channel: string, properties: Record<string, unknown>, required: readonly string[]): string[] {
  const shown = required.length > 0 ? required : Object.keys(properties).slice(0, 3);
  const example = shown.map((key) => `${key}: …`).join(", ");
  const rows = Object.entries(properties).filter(([key]) => key !== "name");
  return [
    `Next, write its account into the config: svc config set channels.${channel} '{${example}}'`,
    ...rows.map(([key, schema]) => {
      const text = isRecord(schema) && typeof schema.description === "string" ? schema.description : "";
      return `  ${key}${required.includes(key) ? " (required)" : ""}${text === "" ? "" : `: ${text}`}`;
    }),
  ];
}

/** True when something is written there; `*` stands for any member or item. */
function hasValue(tree: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return tree !== undefined && tree !== "";
  if (key === "*") return (Array.isArray(tree) ? tree : isRecord(tree) ? Object.values(tree) : []).some((one) => hasValue(one, rest));
  return isRecord(tree) && Object.hasOwn(tree, key) && hasValue(tree[key], rest);
}
