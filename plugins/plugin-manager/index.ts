import { definePlugin } from "svc/sdk";

/** Commands only: they live in `cli/`, are named by the manifest, and run in the process of `svc`, never in the gateway. */
export default definePlugin({
  id: "plugin-manager",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup() {
    // Nothing to register in the gateway.
  },
});
