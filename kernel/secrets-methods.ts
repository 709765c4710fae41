import type { Reloader } from "../sdk/config/reloader.ts";
import { SvcError } from "../sdk/errors.ts";
import { protocolMethod } from "../sdk/protocol/methods.ts";
import { secretsReloadResult } from "../sdk/secrets/reload-result.ts";
import type { MethodRegistry } from "./port/methods.ts";

/** `secrets.reload`: all secrets anew in one swap; who could not be asked keeps what it had. */
export function registerSecretsMethods(methods: MethodRegistry, reloader: Reloader): void {
  const handler = async () => {
    const { status, issues } = await reloader.reload("secrets");
    if (status === "invalid" || status === "rejected") {
      throw new SvcError("secrets-reload-rejected", { reason: issues.map(({ path, message }) => `${path}: ${message}`).join("; ") });
    }
    return secretsReloadResult(reloader.current());
  };
  methods.add({ ...protocolMethod("secrets.reload"), handler }, "kernel");
}
