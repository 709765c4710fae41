import type { SvcConfig } from "svc/sdk";
import { isGlobMatch } from "svc/sdk/internal";

type ServerConfig = SvcConfig["mcp"]["servers"][string];

/** One server of the config with its secrets. */
export type ServerSettings = {
  name: string;
  tools: { allow?: readonly string[] | undefined; deny: readonly string[] };
  approval: "never" | "writes" | "always";
  timeoutMs: number;
  startMs: number;
  protocol: "legacy" | "auto";
} & (
  | { kind: "stdio"; command: string; args: readonly string[]; env: Record<string, string>; cwd: string }
  | { kind: "http"; url: string; headers: Record<string, string> }
);

interface SettingsSource {
  servers: SvcConfig["mcp"]["servers"];
  /** @throws {SvcError} `secret-unavailable` */
  secret(path: string): string | undefined;
  /** Working directory of programs that name none. */
  cwd: string;
}

/**
 * Settings of one server.
 * @throws {SvcError} `secret-unavailable`
 */
export function serverSettings(name: string, { servers, secret, cwd }: SettingsSource): ServerSettings {
  const server = servers[name] as ServerConfig;
  const valuesOf = (key: "env" | "headers") => {
    // One that has no value is not among the keys, and must not be missing in silence.
    secret(`mcp.servers.${name}.${key}.*`);
    return Object.fromEntries(Object.keys(server[key]).map((one) => [one, secret(`mcp.servers.${name}.${key}.${one}`) ?? ""]));
  };
  const common = {
    name,
    tools: server.tools,
    approval: server.approval,
    timeoutMs: server.timeoutSeconds * 1_000,
    startMs: server.startSeconds * 1_000,
  };
  if (server.url !== undefined)
    return { ...common, kind: "http", url: server.url, headers: valuesOf("headers"), protocol: server.protocol ?? "auto" };
  const program = { command: server.command ?? "", args: server.args, env: valuesOf("env"), cwd: server.cwd ?? cwd };
  return { ...common, kind: "stdio", ...program, protocol: server.protocol ?? "legacy" };
}

/** Values of a server that nobody may see; short ones cannot be told from ordinary words. */
export function secretsOf(settings: ServerSettings): string[] {
  const values = Object.values(settings.kind === "stdio" ? settings.env : settings.headers);
  return values.flatMap((value) => [value, value.replace(/^\w+ /, "")]).filter((value) => value.length >= 6);
}

/** Is a tool of a server offered to agents? `*` stands for any text. */
export function isOffered(tool: string, { allow, deny }: ServerSettings["tools"]): boolean {
  const isOneOf = (patterns: readonly string[]) => patterns.some((pattern) => isGlobMatch(tool, pattern));
  return (allow === undefined || isOneOf(allow)) && !isOneOf(deny);
}
