import type { Disposable } from "../../sdk/types/common.ts";
import type { TransformSandbox, TransformSandboxOptions } from "../../sdk/types/sandbox.ts";
import { workerUrl } from "../../sdk/worker.ts";
import { createAdmission } from "../process/admission.ts";
import { startDeadline } from "./call-deadline.ts";
import { sandboxErrors } from "./errors.ts";
import { describe, toSandboxError } from "./guest-error.ts";
import { checkLocalImports } from "./local-imports.ts";
import { createTransformRunner, type RunTransform } from "./run-transform.ts";
import { createSandbox, sandboxLimits } from "./sandbox.ts";
import type { TransformGuestData } from "./transform-guest.ts";

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
    backoff: "call",
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
      const deadline = startDeadline({ signal, limitMs: timeoutMs, tooLate });
      let place: Disposable | undefined;
      try {
        place = await admit(deadline.over);
        isWaiting = false;
        runner ??= createTransformRunner({ root, jiti: import.meta.resolve("jiti"), fresh: true });
        const result = runner.then((run) => run(request));
        return await deadline.until(
          result.catch((error: unknown) => {
            throw toSandboxError(NAME, name, describe(error, root));
          }),
        );
      } finally {
        place?.dispose();
        deadline.dispose();
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
