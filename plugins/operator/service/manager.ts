import type { InstalledProgram, ManagerKind, ServiceFile, ServiceSpec } from "./definition.ts";

/** A definition as it lies on this machine. */
export interface FoundDefinition {
  manager: ManagerKind;
  path: string;
  text: string;
  /** Undefined when it starts no gateway. */
  program: InstalledProgram | undefined;
  /** Owner that is not this user: the definition is the operator's own. */
  isForeign: boolean;
}

/** State of a service as its supervisor tells it. */
export interface ManagerState {
  isEnabled: boolean;
  /** `unknown`: the supervisor does not say; lock and port have to. */
  status: "running" | "stopped" | "failed" | "unknown";
  pid: number | undefined;
  lastExit: number | null;
  /** The supervisor has loaded an older definition than the one on disk. */
  isStale: boolean;
  /** Why the supervisor could not be asked. */
  problem?: string;
}

/** A step of an installation: a program of the system. */
export interface Step {
  argv: readonly string[];
  /** It may fail: there was nothing to undo. */
  mayFail?: boolean;
}

/** One kind of supervisor. Nothing but the methods that say so changes anything. */
export interface ServiceManager {
  /** Name of unit, label or task. */
  readonly label: string;
  /** Files of an installation, the definition first. */
  files(spec: ServiceSpec): ServiceFile[];
  /** Steps around the writing of the files. */
  steps: { before: readonly Step[]; after: readonly Step[] };
  /** The definition that is in force; one of the system goes before one of the user. */
  find(): Promise<FoundDefinition[]>;
  state(found: FoundDefinition): Promise<ManagerState>;
  /** @throws {SvcError} `service-bus`, `service-command` when the supervisor cannot be reached, before anything is written */
  preflight(): Promise<void>;
  /** Ends what an earlier definition runs, where that has to be before the files are written. Changes the system. */
  prepare(): Promise<void>;
  /** Runs the steps that follow the files. Changes the system. @throws {SvcError} `service-command` */
  activate(): Promise<void>;
  start(found: FoundDefinition): Promise<void>;
  /** Resolves when the supervisor has let go; the process may take longer. */
  stop(found: FoundDefinition): Promise<void>;
  /** `fromInside`: this command is a descendant of the gateway and ends with it. */
  restart(found: FoundDefinition, options: { fromInside: boolean }): Promise<void>;
  /** Ends it and takes its definition away. */
  uninstall(found: FoundDefinition): Promise<string[]>;
  /** Something an operator should do besides; printed, never done. */
  advice(): Promise<string[]>;
}
