import type { Manifest } from "svc/sdk";
import { expect, test } from "vitest";
import { nextSteps } from "./next-steps.ts";

const properties = { token: { type: "string", description: "Token of the bot" }, rooms: { type: "array" } };
const manifest = {
  channelConfigs: { talk: { type: "object", properties, required: ["host", "token"] } },
  secrets: [
    { path: "channels.talk.token", env: ["TALK_TOKEN"] },
    { path: "channels.talk.rooms.*.key" },
    { path: "channels.talk.accounts.*.token" },
    { path: "channels.other.token" },
  ],
} as unknown as Manifest;
const steps = (section: unknown, env: Record<string, string> = {}) => nextSteps("talk", { id: "channel-talk", manifest }, { section, env });

test("without a section the command that writes it is shown, with its keys and the credentials", () => {
  expect(steps(undefined)).toEqual({
    isConfigured: false,
    missing: ["host", "token"],
    credentials: [
      { path: "channels.talk.token", env: ["TALK_TOKEN"] },
      { path: "channels.talk.rooms.*.key", env: [] },
    ],
    lines: [
      "Next, write its account into the config: svc config set channels.talk '{host: …, token: …}'",
      "  token (required): Token of the bot",
      "  rooms",
      "Credential not set: channels.talk.token (or TALK_TOKEN)",
      "Credential not set: channels.talk.rooms.*.key",
      "Then: svc channels status --probe",
    ],
  });
});

test("what is set, in the section, an account or the environment, is not missing", () => {
  const set = steps({ accounts: { a: { token: "x", host: "h" } }, rooms: [{ key: "k" }] });
  expect(set).toMatchObject({ isConfigured: true, missing: [], credentials: [] });
  expect(steps({ host: "h" }, { TALK_TOKEN: "x" })).toMatchObject({
    isConfigured: false,
    missing: ["token"],
    credentials: [{ path: "channels.talk.rooms.*.key" }],
  });
});

test("the channel's own word wins over the manifest", () => {
  const asked = nextSteps("talk", { id: "channel-talk", manifest }, { section: {}, env: {}, lacking: ["nick"] });
  expect(asked).toMatchObject({ isConfigured: false, missing: ["nick"] });
  expect(asked.lines).toContain("Next, write its account into the config: svc config set channels.talk '{nick: …}'");
  expect(nextSteps("talk", { id: "channel-talk", manifest }, { section: {}, env: {}, lacking: [] }).isConfigured).toBe(true);
});
