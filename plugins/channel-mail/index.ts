import { definePlugin } from "svc/sdk";
import { createMailChannel } from "./channel.ts";
import { checkSenders } from "./doctor.ts";

/** The channel `mail`: one mailbox per account, read over IMAP and answered over SMTP. */
export default definePlugin({
  id: "channel-mail",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerDoctorCheck({ id: "senders", run: () => checkSenders(ctx.snapshot()) });
    const { vendor, kv, clock } = ctx;
    ctx.registerChannel(createMailChannel({ vendor, kv, fetch: (input, init) => ctx.fetch(input, init), now: () => clock.now() }));
  },
});
