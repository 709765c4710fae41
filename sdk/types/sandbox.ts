import type { Logger } from "./common.ts";

/** A call of a transform: file, function and arguments. Plain JSON. */
export interface TransformRequest {
  /** Absolute, inside the folder. */
  file: string;
  /** Name of the function; unset: the default export, else `transform`. */
  export?: string;
  /** `url` as text; the function gets a `URL`. */
  context: { payload: unknown; headers: Readonly<Record<string, string>>; url: string; path: string };
}

/** Environment and limits of the functions of one folder. */
export interface TransformSandboxOptions {
  /** Absolute and resolved folder of the functions. */
  root: string;
  /** Paths in it that a child process may read, evaluated at each start of one; absolute. Default: all of it. */
  read?: () => readonly string[];
  /** `process`: a child without rights; `worker`: a thread; `off`: here, where a loop cannot be ended. */
  isolation: "process" | "worker" | "off";
  /** May use the network; with `off` it always may. */
  net: boolean;
  /** Longest call, with its wait for a place, the start of a cold guest and the load of its file. */
  timeoutMs: number;
  logger: Logger;
  /** Monotonic milliseconds; default the real ones. */
  now?: () => number;
}

/** Functions of the files in one folder, called apart from the gateway. */
export interface TransformSandbox {
  /** Starts the guest before it is needed. */
  start(): Promise<void>;
  /**
   * Calls a function; at most 8 at once, 64 wait.
   * @param name of the file, for people; five calls of one name that end the guest within a minute let that name rest for a minute
   * @returns its result as plain JSON: null and `undefined` as they are
   * @throws {SvcError} `sandbox-failed` with the place of what it throws, `sandbox-timeout`, `sandbox-crashed`, `sandbox-unavailable`, `sandbox-too-large`, `busy`
   */
  call(name: string, request: TransformRequest, options?: { signal?: AbortSignal }): Promise<unknown>;
  /** Returns the reason why a file may not be loaded: it imports something outside the folder. */
  check(file: string): Promise<string | undefined>;
  /** The files have changed: the next call loads them anew. Calls in flight finish with the old ones. */
  renew(): void;
  dispose(): void;
}

/** Service `sandbox@1`, provided by the kernel: places where code runs apart from the gateway. */
export interface SandboxService {
  /**
   * Opens a place where functions of the files in one folder run: TypeScript or JavaScript, without a build step, with a bound on time, memory, calls
   * and output. Nothing runs before the first call or `start`; whoever opened it disposes of it.
   */
  openTransforms(options: TransformSandboxOptions): Promise<TransformSandbox>;
}
