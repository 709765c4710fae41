import { expect, test } from "vitest";
import { renderText } from "./rendered-text.ts";
import { messageIdOf, normalizeTarget, parseMessageId, recipientOf } from "./targets.ts";

test("styles stand beside the text by their places, after what is inserted before them", () => {
  const text = "Title\nbold code link quote";
  const spans = [
    { kind: "heading" as const, start: 0, end: 5 },
    { kind: "bold" as const, start: 6, end: 10 },
    { kind: "code" as const, start: 11, end: 15 },
    { kind: "link" as const, start: 16, end: 20, href: "https://example.com/a b" },
    { kind: "quote" as const, start: 6, end: 26 },
    { kind: "italic" as const, start: 21, end: 26 },
  ];
  const { text: shown, entities } = renderText({ text, spans });

  expect(shown).toBe("Title\n> bold code link (https://example.com/a%20b) quote");
  const styled = (entities as string[]).map((entity) => {
    const [start, length, style] = entity.split(":");
    return [style, shown.slice(Number(start), Number(start) + Number(length))];
  });
  expect(styled).toEqual([
    ["BOLD", "Title"],
    ["BOLD", "bold"],
    ["MONOSPACE", "code"],
    ["ITALIC", "quote"],
  ]);
});

test("a link that is its own text is not repeated, and a text without spans has no styles", () => {
  const text = "https://example.com";
  expect(renderText({ text, spans: [{ kind: "link", start: 0, end: 19, href: text }] })).toEqual({ text });
  expect(renderText({ text: "plain 🙂", spans: [] })).toEqual({ text: "plain 🙂" });
});

test.each([
  ["+49 (30) 123-456", "+4930123456"],
  ["signal:+4930123456", "+4930123456"],
  ["AAAAAAAA-1111-4111-8111-111111111111", "aaaaaaaa-1111-4111-8111-111111111111"],
  ["group:Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=", "group:Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI="],
  ["Signal:GROUP:Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=", "group:Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI="],
  ["u:ada.01", "u:ada.01"],
  ["0301234567", null],
  ["ada", null],
  ["group:short=", null],
  ["+49301234567890123456", null],
  ["", null],
  [`+49${" ".repeat(500)}30123456`, null],
])("the target %j is %j", (raw, normalized) => {
  expect(normalizeTarget(raw)).toBe(normalized);
});

test("a target is a group, a user name or a person to the daemon", () => {
  expect(recipientOf("group:abc=")).toEqual({ groupId: ["abc="] });
  expect(recipientOf("u:ada.01")).toEqual({ username: ["ada.01"] });
  expect(recipientOf("+4930123456")).toEqual({ recipient: ["+4930123456"] });
});

test("the id of a message is its author and time, and nothing else is one", () => {
  expect(parseMessageId(messageIdOf("+4930123456", 7))).toEqual({ author: "+4930123456", timestamp: 7 });
  for (const id of ["", "/7", "+4930123456/", "+4930123456/x", "ada/7", "7"]) expect(parseMessageId(id), id).toBeUndefined();
});
