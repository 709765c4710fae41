import { definePlugin, methodOf, z } from "svc/sdk";
import { greet } from "./greet.ts";
import { methods, person } from "./protocol.ts";

export default definePlugin({
  id: "hello",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  config: z.strictObject({ greeting: z.string().min(1).default("Hello") }),
  setup(ctx) {
    ctx.registerTool({
      name: "hello_greet",
      description: "Greets somebody by name.",
      input: person,
      run: ({ name }) => greet(ctx.config.greeting, name),
    });
    ctx.registerRpc({
      ...methodOf(methods, "hello.greet"),
      handler: ({ name }) => ({ text: greet(ctx.config.greeting, name) }),
    });
    ctx.on("gateway.ready", ({ uptimeMs }) => ctx.logger.info(`${greet(ctx.config.greeting, "gateway")} Ready after ${uptimeMs} ms.`));
  },
});
