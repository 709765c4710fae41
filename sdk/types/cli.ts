import type { SvcConfig } from "../config/root.ts";
import type { LockOwner } from "../process-owner.ts";
import type { HelloOk } from "../protocol/frames.ts";
import type { TypedEvents, TypedRequest } from "../protocol/typed.ts";
import type { JsonObject } from "./common.ts";
import type { ConfigChange, ConfigText, ConfigWriteOptions, ConfigWriteOutcome, ReadConfig, Restore } from "./config-file.ts";
import type { ContributionView } from "./context.ts";
import type { FolderWatches, FolderWatchesOptions } from "./folder-watches.ts";
import type { InstalledPlugins, VendorPackages } from "./installed-plugins.ts";
import type { LogTail, LogTailQuestion } from "./log.ts";
import type { Manifest } from "./manifest.ts";
import type { PluginCandidate } from "./plugin-candidate.ts";
import type { SandboxService } from "./sandbox.ts";
import type { SecretsAudit } from "./secrets.ts";
import type { Services } from "./services.ts";

/** One option of a command; its long name is its key. */
export type CliOption =
  | { kind: "flag"; description: string; short?: string; hidden?: boolean }
  | {
      kind: "string";
      description: string;
      short?: string;
      choices?: readonly string[];
      placeholder?: string;
      hidden?: boolean;
      /** May be given several times: the value is all of them, each on a line of its own. */
      repeats?: boolean;
    }
  | { kind: "integer" | "number"; description: string; short?: string; min?: number; max?: number; placeholder?: string; hidden?: boolean };

/** Parsed options by long name: flags are booleans, the rest `undefined` when not given. */
export type CliValues = Record<string, string | number | boolean | undefined>;

/** One command of the `svc` program; plain data, so that help needs no vendor. */
export interface CliCommand {
  path: readonly string[];
  summary: string;
  details?: string;
  examples?: ReadonlyArray<readonly [what: string, command: string]>;
  options?: Readonly<Record<string, CliOption>>;
  positionals?: ReadonlyArray<{ name: string; required: boolean; rest?: boolean }>;
  /** Adds `--url --port --token --password --timeout`. */
  rpc?: boolean;
  /** Exit code: 0 success, 1 failed or negative finding, 2 usage. Throw `SvcError` for failures. */
  run(cli: CliContext, values: CliValues, positionals: string[]): Promise<number>;
}

/** A connection to a running gateway, as a command needs it. */
export interface CliClient {
  readonly hello: HelloOk;
  request: TypedRequest<{ timeoutMs?: number; onAccepted?(payload: JsonObject): void }>;
  on: TypedEvents;
  /** Resolves when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Connection options of a command. */
export interface CliConnectOptions {
  mode?: "cli" | "probe";
  scopes?: string[];
  /** Abilities the command announces, such as `approvals`; default `tool-events`. */
  caps?: string[];
  timeoutMs?: number;
  /** False: this installation gets no key made for it; for commands that only look. */
  newDevice?: boolean;
  /** Gateway to connect to; default: the one of `target()`. */
  target?: CliTarget;
}

/** Process that listens on a port. */
export interface CliPortHolder {
  pid: number;
  command: string;
}

/** Ports of this machine, for commands that look beside the gateway. */
export interface CliPorts {
  /** Port that the next start of this profile's gateway takes, whatever one that runs has: flag, environment, config, default. */
  ofNextStart(flag?: number): Promise<{ port: number; source: "flag" | "env" | "config" | "default" }>;
  /** Processes that listen there, as far as the system tells. */
  holders(port: number): Promise<CliPortHolder[]>;
  /** Does a gateway answer on this port of the loopback interface? Asks for at most a second. */
  isGateway(port: number): Promise<boolean>;
}

/**
 * Terminal, profile and gateway, as a command sees them. Text may hold anything: on its way out, colours of `color` take effect, and other control
 * characters, bidirectional controls and lone surrogates are shown as `\u001b`. Line feeds and tabs are layout; `printableLine` shows them, too.
 */
export interface CliContext {
  /** `--json` was given: stdout must hold exactly one JSON document. */
  readonly json: boolean;
  readonly stdout: {
    line(text?: string): void;
    write(text: string): void;
    /**
     * Rows with aligned columns under a head in bold; the last column is as long as it is. A line feed or tab in a cell is shown as `\u000a`, so that no text
     * forges a row.
     */
    table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): void;
    json(value: unknown): void;
    /** One document on a line of its own, as often as something happens: for commands that follow something. */
    jsonLine(value: unknown): void;
    readonly isTTY: boolean;
  };
  readonly stderr: { line(text?: string): void; write(text: string): void; readonly isTTY: boolean };
  readonly color: {
    bold(s: string): string;
    dim(s: string): string;
    red(s: string): string;
    green(s: string): string;
    yellow(s: string): string;
    cyan(s: string): string;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: CliPaths;
  readonly signal: AbortSignal;
  readonly version: string;
  /** Returns the address this command would connect to and the source of its secret. */
  target(): Promise<CliTarget>;
  /** Config of this profile, or the last one that a gateway became ready with when the file does not parse; never throws for a bad file. A valid one has issues too when it holds keys that are not part of this release. */
  config(): Promise<{
    exists: boolean;
    valid: boolean;
    issues: Array<{ path: string; message: string; text: string }>;
    config: JsonObject | undefined;
  }>;
  /** The config file of this profile, for commands that look into it or change it; nothing is asked of a gateway. */
  configFile(): Promise<CliConfigFile>;
  /** @throws {SvcError} `gateway-unreachable`, `client-unauthorized`: a command never goes around the gateway */
  connect(options?: CliConnectOptions): Promise<CliClient>;
  /**
   * Connects, works, and closes whatever happened; Ctrl-C closes too, and the answers that are pending then are rejected.
   * @throws {SvcError} as `connect`, and what the work throws
   */
  withClient<T>(work: (client: CliClient) => Promise<T>, options?: CliConnectOptions): Promise<T>;
  /** Next step towards a running gateway, as the end of a sentence: a command for this profile that would not be refused. */
  startAdvice(): Promise<string>;
  /** Ports of this machine and what listens on them. */
  readonly ports: CliPorts;
  /** Process that holds the state lock of this profile; undefined when none is alive. */
  lockOwner(): Promise<{ pid: number; port?: number } | undefined>;
  /** Runs while no gateway can start with this state directory; a restore that was cut off is completed first. @throws {SvcError} `lock-held` */
  holdState<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Boots the kernel without a listener and only these plugins (and what they require) under the state lock. `quiet`: for a command that shows itself what the
   * plugins warn of; only errors are logged.
   */
  local(plugins: string[], options?: { quiet?: boolean }): Promise<CliLocal>;
  /** Lets a plugin load again that ended a gateway by blocking its event loop; false when nothing kept it out. */
  liftQuarantine(id: string): Promise<boolean>;
  /** Plugins as their manifests say, no code run. */
  manifests(): Promise<
    Array<{
      id: string;
      version: string;
      name: string;
      description: string;
      origin: string;
      enabled: boolean;
      state: string;
      reason?: string;
      /** Advice for the operator. */
      hint?: string;
      /** Sensitive config paths and the variables that may hold the value. */
      secrets: ReadonlyArray<{ path: string; env?: string[] }>;
    }>
  >;
  /**
   * Looks at every secret of this profile's config and at the files around it; writes nothing, and runs programs of `exec` providers only when allowed.
   * @throws {SvcError} `invalid-config`
   */
  auditSecrets(options: { allowExec: boolean }): Promise<SecretsAudit>;
  /** Every plugin as discovery finds it, losers and blocked ones too; no code of theirs is run. */
  candidates(): Promise<PluginCandidate[]>;
  /** Runs a plugin's module in this process and returns its default export. Only for code that passed the gates, and never in the gateway. */
  importPlugin(entry: string): Promise<unknown>;
  /** A plugin's folder as `plugins.load.paths` would find it, whatever the config says: manifest, API version, trust gates. No code of it is run. */
  inspectPlugin(folder: string): Promise<PluginCandidate>;
  /** Plugins that commands installed in this profile. */
  installedPlugins(): Promise<InstalledPlugins>;
  /** Packages that plugins lock in their `vendor/` folders. */
  vendorPackages(): Promise<VendorPackages>;
  /** Watches folders, one handle each. The system may drop events: read the folders again after each of them. */
  watchFolders(options: FolderWatchesOptions): Promise<FolderWatches>;
  /** Log of this profile's gateway, read beside it. `configured` is `logging.file`. */
  readonly logs: {
    /** File that a record of this moment belongs to, whether it exists or not; absolute. */
    path(configured: string | undefined): string;
    /**
     * Reads whole lines of the newest log file there is; a missing file reads as an empty one.
     * @throws {Error} of the system when the file cannot be read
     */
    tail(configured: string | undefined, question: LogTailQuestion): Promise<LogTail>;
  };
  /** As the service `sandbox@1` of a gateway. */
  readonly sandbox: SandboxService;
  /**
   * Runs while holding a lock file, so that of all processes with such work one is at it at a time. A dead owner's lock is taken over.
   * @throws what `busy` makes
   */
  withFileLock<T>(lock: string, work: () => Promise<T>, options: FileLockOptions): Promise<T>;
  /** Writes a file by temp, fsync, rename, fsync of the folder. */
  writeFile(path: string, content: string, options?: { mode?: number }): Promise<void>;
}

/** Time to wait for a lock, and age at which it has no owner. */
export interface FileLockOptions {
  /** 0: who finds it held is told at once. */
  waitMs: number;
  /** A dead owner's lock is taken over once it is so old; 0: at once. More where it may be that of a process this one cannot see. */
  staleAfterMs: number;
  /** Creates the error for a lock that is held; the owner is undefined when the file does not name it. */
  busy(owner: LockOwner | undefined): Error;
}

/** A profile's config file and the one way to change it. */
export interface CliConfigFile {
  /** Absolute. */
  readonly path: string;
  /** JSON5. @throws an error with `lineNumber` and `columnNumber` */
  parse(text: string): unknown;
  /**
   * JSON merge patch (RFC 7396); lists of objects with ids are merged by id. `replacePaths`: lists that may lose members.
   * @throws {SvcError} `config-entries-lost`, `config-path-invalid`
   */
  merge(target: unknown, patch: unknown, replacePaths?: readonly string[]): unknown;
  /** Reads the file with all it includes; SecretRefs are not asked for. Never throws for what is in it. */
  load(): Promise<ReadConfig>;
  /** A tree of a config (source or effective) without its secrets; `loaded`: also without those that came from references and variables. */
  redacted(tree: unknown, loaded?: ReadConfig): unknown;
  /** Text of a config file without its secrets; `""` for one that does not parse. */
  redactedText(text: string): string;
  /** Every file of the config, the main one first; none when there is no main file. */
  texts(): Promise<ConfigText[]>;
  /** A redacted text with the values that `present` has in the same places. An entry that it lacks goes; `missing` has the paths of those. */
  refilled(text: string, present: string | undefined): { text: string; missing: string[] };
  /** @throws {SvcError} as `writeConfig` of the SDK says: `config-*` */
  write(change: ConfigChange, options?: ConfigWriteOptions): Promise<ConfigWriteOutcome>;
  /** Puts the last-good copy back. @throws {SvcError} `config-no-last-good`, `config-readonly`, `config-locked` */
  restoreLastGood(options?: { dryRun?: boolean }): Promise<Restore>;
  /** Runs the checks of a start without starting, and writes nothing. @throws what refuses the start */
  checkStart(): Promise<void>;
  /** Problems that manifests find with the config of their plugins. */
  pluginIssues(): Promise<Array<{ path: string; message: string }>>;
  /** Ids in the config that no plugin found here goes by; a start only warns about them. `plugins`: other ids that are known as well. */
  pluginWarnings(of?: { config?: SvcConfig; plugins?: readonly string[] }): Promise<Array<{ path: string; message: string }>>;
  /** Settings that a gateway starts with and that cannot be meant, and those that deserve a word: what a writer refuses, and what it warns of. */
  settings(): Promise<Record<"issues" | "warnings", Array<{ path: string; message: string }>>>;
  /** Manifests of every discovered plugin; no code is run. */
  manifests(): Promise<Manifest[]>;
  /** JSON Schema of the file with the parts of every discovered plugin. */
  schema(): Promise<JsonObject>;
  /** JSON Schema of one key of svc itself; undefined when no key has this path. */
  keySchema(path: string): Promise<JsonObject | undefined>;
  /** The schema as TypeScript declarations, and as JSON Schema for editors. */
  types(): Promise<{ dts: string; json: string }>;
}

/** Plugins that run inside the command, for work on files while no gateway runs. Whoever opened it closes it. */
export interface CliLocal {
  service<K extends keyof Services>(name: K): Services[K];
  /** Contributions registered at a point, such as `hookPreset`. */
  contributions<T>(point: string): ContributionView<T>;
  close(): Promise<void>;
}

/** Files of one profile: absolute paths; each `…Source` says what decided it. */
export interface CliPaths {
  readonly profile: string;
  readonly stateDir: string;
  readonly stateDirSource: string;
  readonly configPath: string;
  readonly configPathSource: string;
  /** Root of the installed package (bundled plugins and examples are below it). */
  readonly packageRoot: string;
}

/** The gateway a command talks to, and what it shows there. */
export interface CliTarget {
  url: string;
  host: string;
  port: number;
  /** `remote`: the address is that of `gateway.remote`. */
  portSource: "flag" | "env" | "config" | "default" | "lock" | "remote";
  /** The address is as seen from the other end of an SSH connection, which leads there. */
  ssh?: { target: string; identity?: string };
  /** Certificate of a gateway on this machine that serves TLS, or the one that `gateway.remote` names: no other is accepted. */
  tlsFingerprint?: string;
  token?: string;
  password?: string;
  secretSource: "flag" | "config" | "env" | "runtime" | "none";
  /** `gateway.auth.mode` in force by config and environment; absent for an address that was named by hand. */
  authMode?: "token" | "password" | "trusted-proxy" | "none";
}
