import { definePlugin, methodOf, z } from "svc/sdk";
import { greet } from "./greet.ts";
import { registerPanels } from "./panels.ts";
import { methods, person } from "./protocol.ts";

export default definePlugin({
  id: "hello",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  config: z.strictObject({ greeting: z.string().min(1).default("Hello") }),
  setup(ctx) {
    let count = 0;
    let latest: string[] = [];
    const greetOne = (name: string) => {
      const text = greet(ctx.config.greeting, name);
      count += 1;
      latest = [text, ...latest].slice(0, 5);
      return text;
    };
    ctx.registerTool({
      name: "hello_greet",
      description: "Greets somebody by name.",
      input: person,
      run: ({ name }) => greetOne(name),
    });
    ctx.registerRpc({
      ...methodOf(methods, "hello.greet"),
      handler: ({ name }) => ({ text: greetOne(name) }),
    });
    registerPanels(ctx, () => ({ count, latest }));
    ctx.on("gateway.ready", ({ uptimeMs }) => ctx.logger.info(`${greet(ctx.config.greeting, "gateway")} Ready after ${uptimeMs} ms.`));
  },
});
