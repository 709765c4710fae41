import { definePlugin } from "svc/sdk";
import { registerInstallMethods } from "./rpc.ts";

/** Installs plugins: by commands in `cli/`, which run in the process of `svc`, and by methods in the gateway. */
export default definePlugin({
  id: "plugin-manager",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup: registerInstallMethods,
});
