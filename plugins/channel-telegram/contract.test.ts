import { channelContract, vendorIn } from "svc/sdk/testing";
import { startTelegramPeer } from "../../test/fakes/telegram-peer.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import type { TelegramLibrary } from "./api.ts";
import { createTelegramChannel } from "./channel.ts";
import { createWebhookRoute } from "./webhook.ts";

(await needsPackages("channel-telegram")).describe("the channel, with a fake of the Bot API at the other side", () => {
  channelContract({
    create: () =>
      createTelegramChannel({
        load: () => vendorIn(import.meta.dirname).load<TelegramLibrary>("grammy"),
        fetch,
        webhooks: createWebhookRoute(),
        times: { reconnectMs: 20, offerMs: 20, groupMs: 50 },
      }),
    peer: startTelegramPeer,
  });
});
