import { expect, test } from "vitest";
import { ADA, from, GROUP_ID } from "../../test/fakes/signal-cli.ts";
import { toMessage } from "./envelope.ts";

const OWN = new Set(["+4930111111", "0a0a0a0a-0000-4000-8000-000000000001"]);
const BOB = "bbbbbbbb-1111-4111-8111-111111111111";
const at = 1_700_000_000_000;
const said = (data: object, who: object = from(ADA, "Ada", "+4930777777")) =>
  toMessage(
    { ...who, timestamp: at, dataMessage: { timestamp: at, message: "hello", expiresInSeconds: 0, viewOnce: false, ...data } },
    OWN,
  );

test("a direct message has the account id of its sender, which stays when the number changes", () => {
  expect(said({})?.event).toEqual({
    id: `${ADA}/${at}`,
    chatType: "direct",
    peer: { id: ADA, name: "Ada" },
    sender: { id: ADA, name: "Ada" },
    text: "hello",
    mentions: { explicit: false, implicit: [] },
    providerAt: at,
  });
});

test("a message of a group goes to the group, and knows who wrote it", () => {
  const event = said({ groupInfo: { groupId: GROUP_ID, groupName: "Kitchen", type: "DELIVER" } })?.event;

  expect(event).toMatchObject({ chatType: "group", peer: { id: `group:${GROUP_ID}`, name: "Kitchen" }, sender: { id: ADA } });
});

test("without an account id the number says who it is", () => {
  expect(said({}, { sourceNumber: "+4930777777", sourceUuid: null, sourceName: "" })?.event.sender).toEqual({ id: "+4930777777" });
});

test("a mention stands in the text by its id; the account's own says that it is meant", () => {
  const mentions = [
    { number: "+4930111111", uuid: null, start: 0, length: 1 },
    { number: null, uuid: BOB, start: 8, length: 1 },
  ];

  const event = said({ message: "\uFFFC ask \uD83D\uDE42\uFFFC please", mentions })?.event;

  expect(event?.text).toBe(`ask 🙂@${BOB} please`);
  expect(event?.mentions).toEqual({ explicit: true, implicit: [] });
});

test("mentions that do not fit the text change nothing of it", () => {
  const mentions = [{ uuid: BOB, start: 1, length: 1 }, { uuid: BOB, start: 99, length: 1 }, { uuid: BOB, start: "x", length: 1 }, null];

  expect(said({ message: "plain", mentions })?.event.text).toBe("plain");
});

test("a quotation names the message it answers, and whether it was the account's", () => {
  const quote = { id: 7, authorNumber: "+4930111111", authorUuid: null, text: "earlier", attachments: [] };
  expect(said({ quote })?.event.replyTo).toEqual({ id: "+4930111111/7", senderId: "+4930111111", text: "earlier", isBot: true });
  expect(said({ quote: { ...quote, authorUuid: ADA } })?.event.replyTo).toEqual({ id: `${ADA}/7`, senderId: ADA, text: "earlier" });
});

test("attachments can be asked for by their ids; those of a message to be seen once cannot", () => {
  const attachments = [
    { id: "a.jpg", contentType: "image/jpeg", filename: "cat.jpg", size: 12 },
    { id: "", contentType: "x/y" },
    { id: "b" },
  ];

  expect(said({ message: null, attachments })?.attachments).toEqual([
    { id: "a.jpg", mime: "image/jpeg", name: "cat.jpg", bytes: 12 },
    { id: "b", mime: "application/octet-stream" },
  ]);
  expect(said({ message: null, attachments, viewOnce: true })).toBeUndefined();
});

test.each([
  ["a receipt", { ...from(ADA, "Ada"), receiptMessage: { when: at, isRead: true, timestamps: [1] } }],
  ["typing", { ...from(ADA, "Ada"), typingMessage: { action: "STARTED", timestamp: at } }],
  ["a message of the account's other devices", { ...from(ADA, "Ada"), syncMessage: { sentMessage: { message: "mine", timestamp: at } } }],
  ["an edit", { ...from(ADA, "Ada"), editMessage: { targetSentTimestamp: 1, dataMessage: { timestamp: at, message: "better" } } }],
  ["a reaction", { ...from(ADA, "Ada"), dataMessage: { timestamp: at, message: null, reaction: { emoji: "👍" } } }],
  ["a deletion", { ...from(ADA, "Ada"), dataMessage: { timestamp: at, message: null, remoteDelete: { timestamp: 1 } } }],
  ["a change of the time to live", { ...from(ADA, "Ada"), dataMessage: { timestamp: at, message: "5", isExpirationUpdate: true } }],
  [
    "a change of a group",
    { ...from(ADA, "Ada"), dataMessage: { timestamp: at, message: null, groupInfo: { groupId: GROUP_ID, type: "UPDATE" } } },
  ],
  ["a message of nobody", { sourceUuid: null, sourceNumber: null, dataMessage: { timestamp: at, message: "boo" } }],
  ["a message without a time", { ...from(ADA, "Ada"), dataMessage: { message: "boo" } }],
  ["a text instead of an envelope", "hello"],
  ["nothing", undefined],
])("%s is no message", (_, envelope) => {
  expect(toMessage(envelope, OWN)).toBeUndefined();
});

test("what the account wrote itself is marked as its own", () => {
  expect(said({}, from("0a0a0a0a-0000-4000-8000-000000000001", "Agent"))?.event.sender.isSelf).toBe(true);
});
