import { createAdmission } from "../admission.ts";
import { checkLocalImports } from "../trust/local-imports.ts";
import type { Disposable, Logger } from "../types/common.ts";
import { workerUrl } from "../worker.ts";
import { startCourse } from "./course.ts";
import { sandboxErrors } from "./errors.ts";
import { describe, toSandboxError } from "./guest-error.ts";
import { createTransformRunner, type RunTransform, type TransformRequest } from "./run-transform.ts";
import { createSandbox, sandboxLimits } from "./sandbox.ts";
import type { TransformGuestData } from "./transform-guest.ts";

/** Where the functions of one folder run, and within which bounds. */
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
  /** Why a file may not be loaded: something it imports stands outside of the folder. */
  check(file: string): Promise<string | undefined>;
  /** The files have changed: the next call loads them anew. Calls in flight finish with the old ones. */
  renew(): void;
  dispose(): void;
}

const NAME = "hook transforms";
/** Largest body that a hook takes, and its headers. */
const MAX_ARGS_BYTES = 34 * 1024 * 1024;

/** Prepares a place for transforms; nothing runs before the first call or `start`. */
export function createTransformSandbox(options: TransformSandboxOptions): TransformSandbox {
  const { root } = options;
  const check = async (file: string) => (await checkLocalImports(root, file))?.reason;
  return { ...(options.isolation === "off" ? openHere(options) : openApart(options, options.isolation)), check };
}

type Place = Omit<TransformSandbox, "check">;

function openApart({ root, read = () => [root], net, timeoutMs, logger, now }: TransformSandboxOptions, mode: "process" | "worker"): Place {
  const data: TransformGuestData = { root, net, jiti: import.meta.resolve("jiti") };
  const sandbox = createSandbox({
    name: NAME,
    mode,
    guest: workerUrl(import.meta.url, "./transform-guest"),
    data: () => data,
    read,
    limits: { callMs: timeoutMs, maxArgsBytes: MAX_ARGS_BYTES },
    rest: "call",
    logger,
    ...(now ? { now } : {}),
  });
  return {
    start: async () => void (await sandbox.start()),
    call: (name, request, callOptions) => sandbox.call(name, request, callOptions),
    renew: () => sandbox.renew(),
    dispose: () => sandbox.dispose(),
  };
}

/** In this very process: the limit gives the caller back, and leaves a loop where it is. */
function openHere({ root, timeoutMs }: TransformSandboxOptions): Place {
  const admit = createAdmission({ maxActive: sandboxLimits.inFlight, maxWaiting: sandboxLimits.waiting });
  let runner: Promise<RunTransform> | undefined;
  let disposed = false;
  return {
    start: async () => undefined,
    async call(name, request, { signal } = {}) {
      if (disposed) throw sandboxErrors.sandboxCrashed({ name: NAME, mode: "place", reason: "it was stopped" });
      let isWaiting = true;
      const tooLate = () =>
        sandboxErrors.sandboxTimeout({ name: NAME, what: name, limitMs: timeoutMs, ...(isWaiting ? { isWaiting } : {}) });
      const course = startCourse({ signal, limitMs: timeoutMs, tooLate });
      let place: Disposable | undefined;
      try {
        place = await admit(course.over);
        isWaiting = false;
        runner ??= createTransformRunner({ root, jiti: import.meta.resolve("jiti"), fresh: true });
        const result = runner.then((run) => run(request));
        return await course.until(
          result.catch((error: unknown) => {
            throw toSandboxError(NAME, name, describe(error, root));
          }),
        );
      } finally {
        place?.dispose();
        course.dispose();
      }
    },
    renew() {
      runner = undefined;
    },
    dispose() {
      disposed = true;
    },
  };
}
