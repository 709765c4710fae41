import type { SvcConfig } from "svc/sdk";
import { expect, test } from "vitest";
import { visibilityOf } from "./visibility.ts";

const config = {
  channels: {
    defaults: { heartbeat: { showOk: false, showAlerts: true, useIndicator: true } },
    irc: { heartbeat: { showOk: true }, accounts: { work: { heartbeat: { showAlerts: false } }, home: {} }, defaultAccount: "home" },
    mail: { heartbeat: { useIndicator: false }, accounts: { default: { heartbeat: { useIndicator: true, showOk: true } } } },
  },
} as unknown as SvcConfig;

test.each([
  [undefined, undefined, [false, true, true]],
  ["webchat", undefined, [false, true, true]],
  ["irc", undefined, [true, true, true]],
  ["irc", "work", [true, false, true]],
  ["irc", "nobody", [true, true, true]],
  ["mail", undefined, [true, true, true]],
  ["mail", "other", [false, true, false]],
])("channel %s, account %s: the account's keys before the channel's, these before the defaults", (channel, accountId, expected) => {
  const where = { ...(channel === undefined ? {} : { channel }), ...(accountId === undefined ? {} : { accountId }) };
  const { showOk, showAlerts, useIndicator } = visibilityOf(config, where);
  expect([showOk, showAlerts, useIndicator]).toEqual(expected);
});
