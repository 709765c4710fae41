import { definePlugin } from "svc/sdk";
import { createSlackChannel } from "./channel.ts";
import { createEventsEndpoint, EVENTS_PATH } from "./endpoint.ts";
import { loadSlackLibrary } from "./library.ts";
import { TIMING } from "./timing.ts";

/** The channel `slack`: one app in one workspace per account. */
export default definePlugin({
  id: "channel-slack",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const endpoint = createEventsEndpoint(TIMING.answerMs);
    ctx.registerChannel(
      createSlackChannel({ load: () => loadSlackLibrary(ctx.vendor), fetch: (url, init) => ctx.fetch(url, init), endpoint }),
    );
    const route = { method: "POST", path: EVENTS_PATH, match: "prefix", auth: "plugin" } as const;
    ctx.registerHttpRoute({ ...route, handler: (call) => endpoint.handle(call) });
  },
});
