import type { MessageRoute } from "svc/sdk";
import { expect, test } from "vitest";
import { ownerTeller } from "./in-chat.ts";

const owners = new Set(["talk/@ada:home", "talk/room7"]);
const isTold = async (sessionKey: string, to: string) => {
  const messaging = {
    lastRoute: async () => ({ channel: "talk", to, accountId: "default" }) as MessageRoute,
    isOwner: ({ channel, id }: { channel: string; id: string }) => owners.has(`${channel}/${id}`),
  };
  return (await ownerTeller({ service: () => messaging } as never, { command: "ls", agentId: "main", sessionKey })) !== undefined;
};

test.each([
  ["agent:main:talk:direct:%40ada", "room7", true],
  ["agent:main:main", "room7", true],
  ["agent:main:talk:direct:@ada%3Ahome", "room1", true],
  ["agent:main:talk:direct:@ADA%3Ahome", "room1", false],
  ["agent:main:talk:direct:@bob", "room1", false],
  ["agent:main:talk:group:room7", "room7", false],
  ["agent:main:talk:direct:@ada%3Ahome:thread:9", "room1", true],
])("about %s, last heard of at %s, an owner is asked in the chat: %s", async (sessionKey, to, expected) => {
  expect(await isTold(sessionKey, to)).toBe(expected);
});
