import { describe, expect, test } from "vitest";
import { parseAddress } from "./address.ts";
import { bodyOf, delayOf, isEncrypted, toEvent } from "./message.ts";
import { renderText } from "./rendered-text.ts";
import { escapeXml, type XmlElement, xml } from "./xml.ts";
import { XmlReader } from "./xml-reader.ts";

function stanza(text: string): XmlElement {
  const found: XmlElement[] = [];
  const reader = new XmlReader({ onStream: () => undefined, onStanza: (one) => void found.push(one), onEnd: () => undefined });
  reader.write(`<stream xmlns="jabber:client">${text}`);
  return found[0] as XmlElement;
}

const eventOf = (text: string, more: { isRoom?: boolean; nick?: string; from?: string } = {}) => {
  const message = stanza(text);
  const from = parseAddress(more.from ?? "Ada@Example.org/desk");
  if (!from) throw new Error("no address");
  return toEvent(message, bodyOf(message), {
    from,
    isRoom: more.isRoom === true,
    self: "bot@example.org",
    nick: more.nick,
    roomSender: "ada@example.org",
  });
};

describe("a message", () => {
  test("to the account has its sender as peer, and the moment it was written when it was kept", () => {
    const event = eventOf(
      "<message id='1'><body xml:lang='de'>Hallo</body><body>Hello</body><delay xmlns='urn:xmpp:delay' stamp='2026-03-01T12:00:00Z'/></message>",
    );

    expect(event).toMatchObject({
      chatType: "direct",
      peer: { id: "ada@example.org", name: "ada" },
      sender: { id: "ada@example.org", name: "ada" },
      text: "Hello",
      providerAt: Date.UTC(2026, 2, 1, 12),
    });
  });

  test("has the same id whenever it comes, and no other message has it", () => {
    const id = (text: string, from?: string) => eventOf(text, from === undefined ? {} : { from }).id;
    const first = id("<message id='1'><body>a</body></message>");

    expect(id("<message id='1'><body>a</body><delay xmlns='urn:xmpp:delay' stamp='2026-03-01T12:00:00Z'/></message>")).toBe(first);
    const others = [
      id("<message id='2'><body>a</body></message>"),
      id("<message id='1'><body>b</body></message>"),
      id("<message id='1'><body>a</body></message>", "eve@example.org/desk"),
      id("<message><body>a</body></message>"),
      id("<message><body>a</body></message>"),
    ];
    expect(new Set([first, ...others]).size).toBe(6);
    const kept = "<message><body>a</body><delay xmlns='urn:xmpp:delay' stamp='2026-03-01T12:00:00Z'/></message>";
    expect(id(kept)).toBe(id(kept));
  });

  test("of the account itself is its own", () => {
    expect(eventOf("<message><body>a</body></message>", { from: "bot@example.org/phone" }).sender.isSelf).toBe(true);
  });

  test.each([
    ["agent_: hello", true],
    ["what does AGENT_ say?", true],
    ["reagent_ and agent_s", false],
    ["hello", false],
  ])("in a room where the account has another nick, %j names it: %j", (text, isNamed) => {
    const event = eventOf(`<message><body>${text}</body></message>`, { isRoom: true, nick: "agent_", from: "hall@rooms.example.org/ada" });
    expect([event.chatType, event.mentions?.explicit === true]).toEqual(["group", isNamed]);
  });

  test("about what somebody does has their name", () => {
    expect(eventOf("<message><body>/me waves</body></message>", { isRoom: true, from: "hall@rooms.example.org/Ada" }).text).toBe(
      "* Ada waves",
    );
  });

  test("without a text, or with one for the eyes of a terminal, is told", () => {
    expect(bodyOf(stanza("<message><composing xmlns='http://jabber.org/protocol/chatstates'/></message>"))).toBe("");
    expect(bodyOf(stanza("<message><body>a&#x9B;2J\r\nb\tc</body></message>"))).toBe("a2J\nb\tc");
    expect(isEncrypted(stanza("<message><encryption xmlns='urn:xmpp:eme:0'/><body>x</body></message>"))).toBe(true);
    expect(delayOf(stanza("<message><x xmlns='jabber:x:delay' stamp='nonsense'/></message>"))).toEqual({ at: undefined });
    expect(delayOf(stanza("<message><delay xmlns='urn:other'/></message>"))).toBeUndefined();
  });
});

describe("written XML", () => {
  test("holds every text as text, and leaves out what XML does not know", () => {
    const written = xml("body", { to: `"'<&>\n` }, "]]> <b> & \u0000\u0008\uD800 🙂\r\nx");

    expect(written.text).toBe('<body to="&quot;&apos;&lt;&amp;&gt;&#10;">]]&gt; &lt;b&gt; &amp;  🙂\nx</body>');
    expect(escapeXml("\uFFFE\uFFFF")).toBe("");
  });
});

test("styles are shown by the marks of message styling, links by their address", () => {
  const text = "bold it gone code\nblock\nsite quote";
  const span = (kind: Parameters<typeof renderText>[0]["spans"][number]["kind"], word: string, more = {}) => ({
    kind,
    start: text.indexOf(word),
    end: text.indexOf(word) + word.length,
    ...more,
  });

  const rendered = renderText({
    text,
    spans: [
      span("bold", "bold"),
      span("italic", "it"),
      span("strike", "gone"),
      span("code", "code"),
      span("codeBlock", "block", { language: "sh" }),
      span("link", "site", { href: "https://example.org" }),
      span("quote", "quote"),
    ],
  });

  expect(rendered.text).toBe("*bold* _it_ ~gone~ `code`\n```sh\nblock\n```\nsite (https://example.org) > quote");
});
