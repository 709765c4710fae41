import { definePlugin } from "svc/sdk";
import type { TelegramLibrary } from "./api.ts";
import { createTelegramChannel } from "./channel.ts";
import { createWebhookRoute, WEBHOOK_PATH } from "./webhook.ts";

/** The channel `telegram`: one bot per account. */
export default definePlugin({
  id: "channel-telegram",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const webhooks = createWebhookRoute();
    ctx.registerChannel(
      createTelegramChannel({
        load: () => ctx.vendor.load<TelegramLibrary>("grammy"),
        fetch: (url, init) => ctx.fetch(url, init),
        webhooks,
      }),
    );
    const answer = { method: "POST", path: WEBHOOK_PATH, match: "prefix", auth: "plugin" } as const;
    ctx.registerHttpRoute({ ...answer, handler: (call) => webhooks.handle(call) });
  },
});
