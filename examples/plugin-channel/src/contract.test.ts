import { join } from "node:path";
import { channelContract, pluginContract } from "svc/sdk/testing";
import { describe } from "vitest";
import { createLinesChannel } from "./channel.ts";
import { startLinesServer } from "./peer.ts";

describe("the plugin", () => {
  pluginContract(join(import.meta.dirname, ".."));
});

describe("the channel", () => {
  channelContract({ create: createLinesChannel, peer: startLinesServer });
});
