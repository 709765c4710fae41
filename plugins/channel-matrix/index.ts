import { definePlugin } from "svc/sdk";
import { createMatrixChannel } from "./channel.ts";
import { loadLibrary } from "./library.ts";

/** The channel `matrix`: one user of a homeserver per account. */
export default definePlugin({
  id: "channel-matrix",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { vendor, kv } = ctx;
    ctx.registerChannel(createMatrixChannel({ load: () => loadLibrary(vendor), fetch: (url, init) => ctx.fetch(url, init), kv }));
  },
});
