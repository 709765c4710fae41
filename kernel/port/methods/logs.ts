import { protocolMethod } from "../../../sdk/protocol/methods.ts";
import { tailLog } from "../../process/log-tail.ts";
import type { MethodRegistry } from "./registry.ts";

/**
 * Registers `logs.tail`: lines of the file in use as they were written, redacted.
 *
 * @param file absolute path of the log file in use
 */
export function registerLogsMethods(methods: MethodRegistry, file: () => Promise<string>): void {
  methods.add({ ...protocolMethod("logs.tail"), handler: async (question) => tailLog(await file(), question as object) }, "kernel");
}
