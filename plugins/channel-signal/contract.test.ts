import { channelContract } from "svc/sdk/testing";
import { describe } from "vitest";
import { startSignalDaemon } from "../../test/fakes/signal-cli.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { createSignalChannel } from "./channel.ts";

describe("channel-signal", () =>
  channelContract({ create: () => createSignalChannel(memoryKv(), { reconnectMs: 20, offerMs: 10 }), peer: startSignalDaemon }));
