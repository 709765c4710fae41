/** Systems that have a supervisor svc knows. */
export type ServicePlatform = "linux" | "darwin" | "win32";

/** Supervisor that owns a gateway's process. */
export type ManagerKind = "systemd-user" | "systemd-system" | "launchd" | "schtasks" | "startup-folder" | "none";

/** Everything a definition is rendered from. Holds no secret. */
export interface ServiceSpec {
  /** `""` = the default profile. */
  profile: string;
  nodePath: string;
  entryPath: string;
  port: number;
  stateDir: string;
  /** Home of the user, which definitions of systemd abbreviate. */
  home: string;
  /** `PATH` of the process. */
  searchPath: string;
  /** `SVC_*` variables that say where state and config are; written into definitions that have no file for variables. */
  pathEnv: Readonly<Record<string, string>>;
}

/** A file of an installation. */
export interface ServiceFile {
  path: string;
  mode: number;
  content: string;
  /** Default UTF-8. */
  encoding?: "utf16le";
}

/** Program that a supervisor starts, read back from a definition. */
export interface InstalledProgram {
  nodePath: string;
  entryPath: string;
  /** Undefined when the arguments name none. */
  port: number | undefined;
  arguments: readonly string[];
  /** Variables that stand in the definition itself. */
  env: Readonly<Record<string, string>>;
}

/** Time that a supervisor gives a stop, told to the gateway so that its drain fits. */
export const STOP_TIMEOUT_MS = 30_000;

/**
 * Flags of Node for a process that runs for months: with 4 MB for young objects instead of 16 the memory after an index of 5,000 passages is a quarter
 * smaller, because what a vendor answered is collected sooner. `package.json` (start), `Dockerfile` and the bench have the same.
 */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];

/** Arguments of the program. */
export function programOf({ nodePath, entryPath, port }: Pick<ServiceSpec, "nodePath" | "entryPath" | "port">): string[] {
  return [nodePath, ...NODE_FLAGS, entryPath, "gateway", "run", "--port", String(port)];
}

/** The program behind the arguments of a definition, whatever flags Node gets; undefined when they start no gateway. */
export function toProgram(args: readonly string[], env: Readonly<Record<string, string>>): InstalledProgram | undefined {
  const [nodePath, ...others] = args;
  const [entryPath, ...rest] = others.slice(others.findIndex((arg) => !arg.startsWith("--")));
  if (nodePath === undefined || entryPath === undefined || !rest.includes("gateway")) return undefined;
  const at = rest.indexOf("--port");
  const port = Number(at === -1 ? undefined : rest[at + 1]);
  return { nodePath, entryPath, port: Number.isInteger(port) && port > 0 ? port : undefined, arguments: rest, env };
}

/** Variables by which the process knows that it is supervised, and by whom. */
export function markerEnv(marker: string): Record<string, string> {
  return { SVC_SERVICE_MARKER: marker, SVC_SERVICE_KIND: "gateway", SVC_STOP_TIMEOUT_MS: String(STOP_TIMEOUT_MS) };
}

/** Name of the unit without its suffix; also the marker on Linux and Windows. */
export function unitName(profile: string): string {
  return profile === "" ? "svc-gateway" : `svc-gateway-${profile}`;
}

/** Label of the launch agent. */
export function launchdLabel(profile: string): string {
  return profile === "" ? "ai.svc.gateway" : `ai.svc.${profile}`;
}

/** Name of the scheduled task. */
export function taskName(profile: string): string {
  return profile === "" ? "Svc Gateway" : `Svc Gateway (${profile})`;
}
