import { definePlugin } from "svc/sdk";

/** One command only: it lives in `cli/`, is named by the manifest, and runs in the process of `svc`, never in the gateway. */
export default definePlugin({
  id: "import",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup() {
    // Nothing to register in the gateway.
  },
});
