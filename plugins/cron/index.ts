import { definePlugin } from "svc/sdk";
import { registerCronChecks } from "./checks.ts";
import { createCron } from "./cron.ts";
import { registerCronMethods } from "./rpc.ts";
import { cronService } from "./service.ts";
import { cronTool } from "./tool.ts";

/** Jobs of agents: once, at intervals, or at the times of a crontab. Each time is taken on before it is acted upon, and never twice. */
export default definePlugin({
  id: "cron",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const cron = createCron(ctx);
    ctx.registerService("cron@1", cronService(cron));
    registerCronMethods(ctx, cron);
    registerCronChecks(ctx, cron);
    ctx.registerTool(cronTool(ctx, cron));
    return cron.life;
  },
});
