import { methodOf } from "../../../sdk/protocol/methods/spec.ts";
import { protocolMethods } from "../../../sdk/protocol/methods.ts";
import type { RpcMethod } from "../../../sdk/types/rpc.ts";
import { type ConfigServiceDeps, createConfigMethods } from "../../config/config-service.ts";
import type { Contributions } from "../../loader/contributions.ts";
import type { MethodRegistry } from "./registry.ts";

/** `config.*` and the service `config@1`. */
export function registerConfigMethods(methods: MethodRegistry, contributions: Contributions, deps: ConfigServiceDeps): void {
  const config = createConfigMethods(deps);
  const add = <P>(method: Omit<RpcMethod<P>, "handler">, handler: RpcMethod<P>["handler"]) =>
    methods.add({ ...method, handler } as RpcMethod, "kernel");
  add(methodOf(protocolMethods, "config.get"), config.get);
  add(methodOf(protocolMethods, "config.set"), config.set);
  add(methodOf(protocolMethods, "config.apply"), config.apply);
  add(methodOf(protocolMethods, "config.patch"), config.patch);
  add(methodOf(protocolMethods, "config.schema"), config.schema);
  add(methodOf(protocolMethods, "config.schema.lookup"), config.lookup);
  contributions.add("service", { id: "config@1", owner: "kernel", order: -1, value: config.service });
}
