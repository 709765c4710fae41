import type { InboundEvent, SvcConfig } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { describe, expect, test, vi } from "vitest";
import { groupOf, policyOf } from "../accounts/policy.ts";
import { type AdmissionState, admit } from "./admission.ts";
import { mentionOf } from "./mention.ts";

const direct: InboundEvent = { id: "1", chatType: "direct", peer: { id: "@ada" }, sender: { id: "@Ada", name: "Ada" }, text: "hello" };
const inRoom: InboundEvent = { ...direct, chatType: "group", peer: { id: "#Kitchen" } };
const plain: AdmissionState = {
  isOwn: false,
  isEcho: false,
  isBotLoop: false,
  isPaired: false,
  mention: () => "yes",
  isCommand: false,
  isCostly: false,
  isForOwners: false,
  isOwner: false,
  hasOwnSession: false,
  isCaseSensitive: false,
};

const noMention = (): "no" => "no";
const policy = (section: object, defaults: object = {}) =>
  policyOf(parseSharedConfig({ channels: { defaults, lines: section } } as never) as SvcConfig, "lines", "default");
const verdict = (section: object, event = direct, state: Partial<AdmissionState> = {}) =>
  admit(event, policy(section), { ...plain, ...state });
const runs = { next: "run", setsRoute: true };
const drops = (reason: string) => ({ next: "drop", reason });

describe("before any rule", () => {
  test.each([
    ["what the account wrote itself", { isOwn: true }, direct, "self"],
    ["what it has just sent", { isEcho: true }, direct, "echo"],
    ["one of two programs that answer each other", { isBotLoop: true }, direct, "bot-loop"],
    ["nothing at all", {}, { ...direct, text: " \n" }, "empty"],
  ])("%s is dropped", (_name, state, event, reason) => {
    expect(verdict({ dmPolicy: "open", allowFrom: ["*"] }, event, state)).toEqual(drops(reason));
  });

  test("a picture without words is a message", () => {
    const event = { ...direct, text: "", media: [{ kind: "image", mime: "image/png" }] };
    expect(verdict({ dmPolicy: "open", allowFrom: ["*"] }, event)).toMatchObject(runs);
  });
});

describe("a mention", () => {
  const strangers = { groupPolicy: "open", groupAllowFrom: ["@bob"] };
  test.each([
    ["of the account itself", {}, { isOwn: true }, "self"],
    ["of a program in a loop", {}, { isBotLoop: true }, "bot-loop"],
    ["of a group that is not listed", { groupPolicy: "allowlist" }, {}, "group-not-listed"],
    ["of a sender who may not write there", strangers, {}, "sender-not-allowed"],
  ])("is not looked for in a message %s", (_name, section, state, reason) => {
    const mention = vi.fn(noMention);
    expect(verdict(section, inRoom, { ...state, mention })).toEqual(drops(reason));
    expect(mention).not.toHaveBeenCalled();
  });
});

describe("direct messages: channels.<id>.dmPolicy and allowFrom", () => {
  test.each([
    ["pairing by default: a stranger may ask", {}, {}, { next: "pair" }],
    ["pairing: who was approved is let in", {}, { isPaired: true }, runs],
    ["pairing: who is listed needs no code", { allowFrom: ["@ada"] }, {}, runs],
    ["allowlist: a stranger is not answered", { dmPolicy: "allowlist" }, {}, drops("dm-not-allowed")],
    ["allowlist: approved by pairing is not listed", { dmPolicy: "allowlist" }, { isPaired: true }, drops("dm-not-allowed")],
    ["allowlist: listed", { dmPolicy: "allowlist", allowFrom: [" @ADA "] }, {}, runs],
    ["open", { dmPolicy: "open", allowFrom: ["*"] }, {}, runs],
    ["disabled: not even who is listed", { dmPolicy: "disabled", allowFrom: ["*"] }, { isPaired: true }, drops("dm-disabled")],
  ])("%s", (_name, section, state, expected) => {
    expect(verdict(section, direct, state)).toEqual(expected);
  });

  test("the defaults of all channels hold where the channel says nothing, an account's own key wins", () => {
    const config = parseSharedConfig({
      channels: { defaults: { dmPolicy: "disabled" }, lines: { accounts: { work: { dmPolicy: "allowlist", allowFrom: ["@ada"] } } } },
    } as never) as SvcConfig;
    expect(policyOf(config, "lines", "default").dmPolicy).toBe("disabled");
    expect(policyOf(config, "lines", "work")).toMatchObject({ dmPolicy: "allowlist", allowFrom: ["@ada"] });
    expect(policyOf(config, "other", "default").groupPolicy).toBe("allowlist");
  });

  test("a name opens nothing, for anybody may take it, unless dangerouslyAllowNameMatching says so", () => {
    const section = { dmPolicy: "allowlist", allowFrom: ["ada"] };
    expect(verdict(section)).toEqual(drops("dm-not-allowed"));
    expect(verdict({ ...section, dangerouslyAllowNameMatching: true })).toEqual(runs);
  });

  test("ids of a platform that tells cases apart are compared as they are", () => {
    const section = { dmPolicy: "allowlist", allowFrom: ["@ada"] };
    expect(verdict(section, direct, { isCaseSensitive: true })).toEqual(drops("dm-not-allowed"));
  });

  test("while one owner is listed, a guest does not decide where reminders go", () => {
    expect(verdict({ allowFrom: ["@eve"] }, direct, { isPaired: true })).toEqual({ next: "run", setsRoute: false });
    expect(verdict({ allowFrom: ["@eve", "@bob"] }, direct, { isPaired: true })).toEqual(runs);
  });
});

describe("groups: groupPolicy, groups, groupAllowFrom", () => {
  test.each([
    ["allowlist by default: none is listed", {}, drops("group-not-listed")],
    ["a listed one", { groups: { "#kitchen": {} } }, runs],
    ["any one by *", { groups: { "*": {} } }, runs],
    ["one that is switched off", { groups: { "#kitchen": { enabled: false }, "*": {} } }, drops("group-disabled")],
    ["open", { groupPolicy: "open" }, runs],
    ["disabled", { groupPolicy: "disabled", groups: { "*": {} } }, drops("group-disabled")],
    ["senders of all groups", { groupPolicy: "open", groupAllowFrom: ["@eve"] }, drops("sender-not-allowed")],
    ["unset, those of direct messages", { groupPolicy: "open", allowFrom: ["@eve"] }, drops("sender-not-allowed")],
    ["nobody", { groupPolicy: "open", groupAllowFrom: [] }, drops("sender-not-allowed")],
    ["the group's own senders win", { groupAllowFrom: ["@eve"], groups: { "#kitchen": { allowFrom: ["@ada"] } } }, runs],
    ["and are inherited from *", { groups: { "#kitchen": {}, "*": { allowFrom: ["@eve"] } } }, drops("sender-not-allowed")],
  ])("%s", (_name, section, expected) => {
    expect(verdict(section, inRoom)).toEqual(expected);
  });

  test("an approval by pairing gives no rights in groups", () => {
    expect(verdict({ groupPolicy: "open", groupAllowFrom: ["@eve"] }, inRoom, { isPaired: true })).toEqual(drops("sender-not-allowed"));
  });

  test("requireMention: only who names the agent is answered, by default", () => {
    expect(verdict({ groupPolicy: "open" }, inRoom, { mention: noMention })).toEqual(drops("not-mentioned"));
    expect(verdict({ groupPolicy: "open" }, inRoom, { mention: () => "unknown" })).toEqual(runs);
    expect(verdict({ groupPolicy: "open", groups: { "*": { requireMention: false } } }, inRoom, { mention: noMention })).toEqual(runs);
  });
});

describe("a command", () => {
  const refused = drops("command-not-allowed");
  test.each([
    ["is taken from whom allowFrom names", { allowFrom: ["@ada"] }, direct, {}, runs],
    ["is not taken from everybody in a session that others share", { dmPolicy: "open", allowFrom: ["*"] }, direct, {}, refused],
    [
      "is taken from everybody who has a session of their own",
      { dmPolicy: "open", allowFrom: ["*"] },
      direct,
      { hasOwnSession: true },
      runs,
    ],
    [
      "that decides what answers cost is not, even there",
      { dmPolicy: "open", allowFrom: ["*"] },
      direct,
      { hasOwnSession: true, isCostly: true },
      refused,
    ],
    [
      "that decides it is taken from whom a list names",
      { allowFrom: ["*", "@ada"] },
      direct,
      { hasOwnSession: true, isCostly: true },
      runs,
    ],
    ["that decides it is taken from the owner", { allowFrom: ["*"] }, direct, { isCostly: true, isOwner: true }, runs],
    ["is not taken from who was approved by pairing, in a shared session", {}, direct, { isPaired: true }, refused],
    ["is taken from the owner", {}, direct, { isPaired: true, isOwner: true }, runs],
    ["in a group needs no mention", { groups: { "*": {} }, groupAllowFrom: ["@ada"] }, inRoom, { mention: noMention }, runs],
    ["in a group is not taken from everybody", { groups: { "*": {} }, groupAllowFrom: ["*"] }, inRoom, {}, refused],
    [
      "in a group without a mention is a line like any other",
      { groups: { "*": {} } },
      inRoom,
      { mention: noMention },
      drops("not-mentioned"),
    ],
    [
      "in a group is taken from whom allowFrom names",
      { groups: { "*": {} }, groupAllowFrom: ["*"], allowFrom: ["@ada"] },
      inRoom,
      {},
      runs,
    ],
  ])("%s", (_name, section, event, state, expected) => {
    expect(verdict(section, event, { isCommand: true, ...state })).toEqual(expected);
  });
});

describe("a mention", () => {
  const mention = (event: Partial<InboundEvent>, section: object = {}, own: { name?: string; sent?: string } = { name: "svc" }) =>
    mentionOf({ ...inRoom, ...event }, policy(section), { name: own.name, hasSent: (id) => id === own.sent });

  test.each([
    ["svc: what is for lunch", "yes"],
    ["ask @SVC!", "yes"],
    ["svcs are many", "no"],
    ["my_svc", "no"],
    ["äsvc", "no"],
  ])("is the name as a word of its own: %j is %s", (text, expected) => {
    expect(mention({ text })).toBe(expected);
  });

  test("is what the platform calls one", () => {
    expect(mention({ text: "hi", mentions: { explicit: true, implicit: [] } })).toBe("yes");
  });

  test.each(["replyToBot", "quotedBot", "threadParticipation"])("is %s, unless implicitMentions says otherwise", (kind) => {
    const event = { mentions: { explicit: false, implicit: [kind] } };
    expect(mention(event)).toBe("yes");
    expect(mention(event, { implicitMentions: { [kind]: false } })).toBe("no");
  });

  test("is an answer to what the account has sent", () => {
    expect(mention({ replyTo: { id: "m7" } }, {}, { name: "svc", sent: "m7" })).toBe("yes");
    expect(mention({ replyTo: { id: "m8" } }, {}, { name: "svc", sent: "m7" })).toBe("no");
  });

  test("is what a pattern of the agent finds; with one it can be told", () => {
    const matches = (text: string) => text.includes("cook");
    const found = (text: string) => mentionOf({ ...inRoom, text }, policy({}), { name: undefined, hasSent: () => false, matches });
    expect([found("cook, lunch?"), found("lunch?")]).toEqual(["yes", "no"]);
  });

  test("cannot be told where neither the platform nor a name nor a pattern says anything", () => {
    expect(mention({}, {}, {})).toBe("unknown");
  });

  test("is looked for in linear time, and names are no patterns", () => {
    expect(mention({ text: "(a+)+$ here" }, {}, { name: "(a+)+$" })).toBe("yes");
    expect(mention({ text: "a".repeat(60_000) }, {}, { name: "aaaaaaaaaaaaaaaaaaaaab" })).toBe("no");
    expect(mention({ text: "x" }, {}, { name: "n".repeat(200) })).toBe("no");
  });
});

test("a group of an account holds over that of its channel, however either is written", () => {
  const config = parseSharedConfig({
    channels: {
      lines: {
        groups: { "#kitchen": { requireMention: true } },
        accounts: { work: { groups: { "#Kitchen": { requireMention: false } } } },
      },
    },
  } as never) as SvcConfig;
  for (const id of ["#kitchen", "#Kitchen", "#KITCHEN"])
    expect(groupOf(policyOf(config, "lines", "work"), id, false)).toMatchObject({ requireMention: false });
  expect(groupOf(policyOf(config, "lines", "work"), "#kitchen", true)).toMatchObject({ requireMention: true });
});
