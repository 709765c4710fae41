import { methodOf } from "../../../sdk/protocol/methods/spec.ts";
import { protocolMethods } from "../../../sdk/protocol/methods.ts";
import type { Manifest } from "../../../sdk/types/manifest.ts";
import type { RpcCall } from "../../../sdk/types/rpc.ts";
import type { Reloader } from "../../config/reloader.ts";
import { type SecretsQuestion, secretsForCommand } from "../../config/secrets-for-command.ts";
import { secretErrors } from "../../secrets/errors.ts";
import { secretsReloadResult } from "../../secrets/reload-result.ts";
import type { MethodRegistry } from "./registry.ts";

/** `secrets.reload`: all secrets anew in one swap; who could not be asked keeps what it had. `secrets.resolve`: values, for this machine only. */
export function registerSecretsMethods(methods: MethodRegistry, reloader: Reloader, manifests: () => Manifest[]): void {
  const resolve = (question: unknown, { client }: RpcCall) => {
    if (!client.directLoopback) throw secretErrors.secretsNotLocal();
    return secretsForCommand(reloader.current(), question as SecretsQuestion, manifests());
  };
  methods.add({ ...methodOf(protocolMethods, "secrets.resolve"), handler: resolve }, "kernel");
  const handler = async () => {
    const { status, issues } = await reloader.reload("secrets");
    if (status === "invalid" || status === "rejected") {
      throw secretErrors.secretsReloadRejected({ reason: issues.map(({ path, message }) => `${path}: ${message}`).join("; ") });
    }
    return secretsReloadResult(reloader.current());
  };
  methods.add({ ...methodOf(protocolMethods, "secrets.reload"), handler }, "kernel");
}
