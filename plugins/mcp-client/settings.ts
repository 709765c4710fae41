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
  | { kind: "http"; url: string; headers: Record<string, string>; oauth?: RegisteredClient }
);

/** Client that was registered at the authorization server by hand. */
export interface RegisteredClient {
  clientId: string;
  clientSecret?: string;
}

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
  if (server.url !== undefined) {
    const { url, protocol = "auto", oauth } = server;
    const client = oauth && { oauth: registeredClient(oauth, secret(`mcp.servers.${name}.oauth.clientSecret`)) };
    return { ...common, kind: "http", url, headers: valuesOf("headers"), protocol, ...client };
  }
  const program = { command: server.command ?? "", args: server.args, env: valuesOf("env"), cwd: server.cwd ?? cwd };
  return { ...common, kind: "stdio", ...program, protocol: server.protocol ?? "legacy" };
}

function registeredClient({ clientId }: NonNullable<ServerConfig["oauth"]>, clientSecret: string | undefined): RegisteredClient {
  return { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
}

/** Does the config say by which header it is let in? Then there is no login. */
export function hasOwnToken(settings: ServerSettings): boolean {
  return settings.kind === "http" && Object.keys(settings.headers).some((name) => name.toLowerCase() === "authorization");
}

/** Values of a server that nobody may see; short ones cannot be told from ordinary words. */
export function secretsOf(settings: ServerSettings): string[] {
  const values =
    settings.kind === "stdio" ? Object.values(settings.env) : [...Object.values(settings.headers), settings.oauth?.clientSecret ?? ""];
  return values.flatMap((value) => [value, value.replace(/^\w+ /, "")]).filter((value) => value.length >= 6);
}

/** Is a tool of a server offered to agents? `*` stands for any text. */
export function isOffered(tool: string, { allow, deny }: ServerSettings["tools"]): boolean {
  const isOneOf = (patterns: readonly string[]) => patterns.some((pattern) => isGlobMatch(tool, pattern));
  return (allow === undefined || isOneOf(allow)) && !isOneOf(deny);
}
