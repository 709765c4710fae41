import { definePlugin } from "svc/sdk";

/** Commands only: they stand in the manifest and run in the process of `svc`. */
export default definePlugin({
  id: "authoring",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup: () => undefined,
});
