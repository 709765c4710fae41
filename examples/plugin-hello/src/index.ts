import { definePlugin, z } from "svc/sdk";
import { greet } from "./greet.ts";

export default definePlugin({
  id: "hello",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  config: z.strictObject({ greeting: z.string().min(1).default("Hello") }),
  setup(ctx) {
    const input = z.object({ name: z.string().max(80) });
    ctx.registerTool({
      name: "hello_greet",
      description: "Greets somebody by name.",
      input,
      run: ({ name }) => greet(ctx.config.greeting, name),
    });
    ctx.registerRpc({
      method: "hello.greet",
      scope: "read",
      params: input,
      handler: ({ name }) => ({ text: greet(ctx.config.greeting, name) }),
    });
    ctx.on("gateway.ready", ({ uptimeMs }) => ctx.logger.info(`${greet(ctx.config.greeting, "gateway")} Ready after ${uptimeMs} ms.`));
  },
});
