import { definePlugin } from "svc/sdk";
import { mailPreset } from "./mail-preset.ts";

/** New mail as work for an agent, switched on by `hooks.presets: ["gmail"]`. */
export default definePlugin({
  id: "hook-preset-mail",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerHookPreset(mailPreset);
  },
});
