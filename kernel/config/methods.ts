import { type ConfigServiceDeps, createConfigMethods } from "../../sdk/config/config-service.ts";
import { pluginConfigIssues, secretPatterns } from "../../sdk/config/plugin-config-issues.ts";
import { loadSecrets } from "../../sdk/config/trees.ts";
import type { ConfigWriterHost } from "../../sdk/config/write.ts";
import type { Env } from "../../sdk/host/paths.ts";
import { protocolMethod } from "../../sdk/protocol/methods.ts";
import { missingStartSecret } from "../../sdk/secrets/start.ts";
import type { StartFlags } from "../../sdk/types/host-gateway.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { RpcMethod } from "../../sdk/types/rpc.ts";
import type { Contributions } from "../contributions.ts";
import type { MethodRegistry } from "../port/methods.ts";
import { configSyntax, loadConfig } from "./load.ts";

export interface ConfigHostOptions {
  path: string;
  env: Env;
  manifests(): Manifest[] | Promise<Manifest[]>;
  /** Of a gateway: a candidate without the secrets that a start needs is refused. Commands run in shells that lack its environment. */
  flags?: StartFlags;
}

/** What the writers of this installation's config stand on, in a gateway and in a command. */
export function createConfigHost({ path, env, manifests, flags }: ConfigHostOptions): ConfigWriterHost {
  let patterns: string[] = [];
  return {
    path,
    readonly: env.SVC_CONFIG_READONLY === "1",
    parse: configSyntax.parse,
    async load(overlay) {
      patterns = secretPatterns(await manifests());
      return loadConfig(path, { env, overlay, secrets: "none" });
    },
    async check(after, before) {
      const missing = flags && missingStartSecret(await loadSecrets(after, { env }), flags);
      if (missing) return [{ path: missing.path, message: missing.reason }];
      return after.config ? pluginConfigIssues(await manifests(), { ...after, config: after.config }, before.config) : [];
    },
    redaction: () => ({ patterns }),
  };
}

/** `config.*` and the service `config@1`. */
export function registerConfigMethods(methods: MethodRegistry, contributions: Contributions, deps: ConfigServiceDeps): void {
  const config = createConfigMethods(deps);
  const add = <P>(method: Omit<RpcMethod<P>, "handler">, handler: RpcMethod<P>["handler"]) =>
    methods.add({ ...method, handler } as RpcMethod, "kernel");
  add(protocolMethod("config.get"), config.get);
  add(protocolMethod("config.set"), config.set);
  add(protocolMethod("config.apply"), config.apply);
  add(protocolMethod("config.patch"), config.patch);
  add(protocolMethod("config.schema"), config.schema);
  add(protocolMethod("config.schema.lookup"), config.lookup);
  contributions.add("service", { id: "config@1", owner: "kernel", order: -1, value: config.service });
}
