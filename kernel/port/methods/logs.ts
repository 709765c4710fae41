import { currentLogFile, tailLog } from "../../../sdk/host/log-tail.ts";
import { protocolMethod } from "../../../sdk/protocol/methods.ts";
import type { Core } from "../../boot/core.ts";

/** `logs.tail`: lines of the file in use, as they were written: redacted. */
export function registerLogsMethods({ methods, options, config, clock }: Core): void {
  const file = () => currentLogFile(options.paths.stateDir, config().logging.file, new Date(clock.now()));
  methods.add({ ...protocolMethod("logs.tail"), handler: async (question) => tailLog(await file(), question as object) }, "kernel");
}
