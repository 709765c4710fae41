/** The service `local-runtime@1` outside a gateway, for tests of plugins that use it. */
export { createLocalRuntime, type LocalRuntimeOptions } from "../../plugins/local-runtime/runtime.ts";
