import { expect, test } from "vitest";
import { growth, LINEAR } from "../../test/tools/growth.ts";
import { attrOf, childOf, textOf, type XmlElement } from "./xml.ts";
import { XmlFault, XmlReader } from "./xml-reader.ts";

const STREAM = "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='x'>";

interface Read {
  stanzas: XmlElement[];
  whole: boolean[];
  isEnded: boolean;
}

function read(text: string, pieceLength = text.length): Read {
  const found: Read = { stanzas: [], whole: [], isEnded: false };
  const reader = new XmlReader({
    onStream: () => undefined,
    onStanza(stanza, isWhole) {
      found.stanzas.push(stanza);
      found.whole.push(isWhole);
    },
    onEnd() {
      found.isEnded = true;
    },
  });
  for (let at = 0; at < text.length; at += pieceLength) reader.write(text.slice(at, at + pieceLength));
  return found;
}

const MESSAGE = `<message from='ada@x/desk' note="a &gt; 'b'"><body>1 &lt; 2 &amp;&#33; &#x1F642; ä\n日本</body><x:y xmlns:x='urn:x'/><![CDATA[<no> ]] tag &amp;]]></message>`;

test.each([Number.MAX_SAFE_INTEGER, 7, 3, 2, 1])("a stream is read the same in pieces of %d characters", (length) => {
  const { stanzas, isEnded } = read(`${STREAM}\n${MESSAGE} <stream:features/></stream:stream>`, length);

  const [message, features] = stanzas as [XmlElement, XmlElement];
  expect([message.name, message.ns, attrOf(message, "note")]).toEqual(["message", "jabber:client", "a > 'b'"]);
  expect(textOf(childOf(message, "body"))).toBe("1 < 2 &! 🙂 ä\n日本");
  expect(childOf(message, "y", "urn:x")?.children).toEqual([]);
  expect(textOf(message)).toBe("<no> ]] tag &amp;");
  expect([features.name, features.ns]).toEqual(["features", "http://etherx.jabber.org/streams"]);
  expect(isEnded).toBe(true);
});

const manyAttributes = Array.from({ length: 70 }, (_, i) => `a${i}='1'`).join(" ");

test.each([
  ["a comment", "<!-- x -->"],
  ["a document type", "<!DOCTYPE a [<!ENTITY b 'c'>]>"],
  ["an instruction", "<?php x?>"],
  ["an entity of one's own", "<message>&b;</message>"],
  ["a bare ampersand", "<message>a & b</message>"],
  ["a character that is none", "<message>&#0;</message>"],
  ["half a character", "<message>&#xD800;</message>"],
  ["an end without its begin", "<message></body>"],
  ["a prefix that stands for nothing", "<a:message/>"],
  ["an attribute twice", "<message a='1' a='2'/>"],
  ["an attribute without quotes", "<message a=1/>"],
  ["text between stanzas", "hello"],
  ["an attribute twice among many", `<message ${manyAttributes} a69='1'/>`],
  ["a tag without an end", `<message a='${"x".repeat(1_048_577)}`],
])("%s ends the stream", (_name, text) => {
  expect(() => read(STREAM + text)).toThrow(XmlFault);
});

test.each([
  ["long text", `<message from='a@x'><body>${"x".repeat(1_100_000)}</body></message>`],
  ["many elements", `<message from='a@x'>${"<a/>".repeat(6_000)}</message>`],
  ["many attributes", `<message from='a@x' ${manyAttributes}/>`],
  ["many attributes inside", `<message from='a@x'><a ${manyAttributes}/></message>`],
  ["deep elements", `<message from='a@x'>${"<a>".repeat(200)}${"</a>".repeat(200)}</message>`],
])("of a stanza with %s the begin is kept, it is told from whole ones, and the next one is read", (_name, stanza) => {
  const { stanzas, whole } = read(`${STREAM}${stanza}<message from='b@x'/>`, 65_536);

  expect(whole).toEqual([false, true]);
  expect(stanzas.map((one) => attrOf(one, "from"))).toEqual(["a@x", "b@x"]);
  expect(JSON.stringify(stanzas[0]).length).toBeLessThan(1_100_000);
});

test("a prefix that is declared behind many attributes counts", () => {
  const { stanzas, whole } = read(`${STREAM}<message ${manyAttributes} xmlns:far='urn:far'><far:a/></message><message><xml:a/></message>`);

  const namespaces = stanzas.map(({ children }) => (children[0] as XmlElement).ns);
  expect(namespaces).toEqual(["urn:far", "http://www.w3.org/XML/1998/namespace"]);
  expect(whole).toEqual([false, true]);
});

test("a long tag is whole: servers pass on stanzas of 512 KiB", () => {
  const { stanzas, whole } = read(`${STREAM}<message a='${"x".repeat(600_000)}'/>`, 65_536);

  expect(whole).toEqual([true]);
  expect(attrOf(stanzas[0], "a").length).toBe(600_000);
});

test.each([
  ["one long attribute", (size: number) => `<message a='${"x".repeat(size)}'/>`],
  ["many attributes", (size: number) => `<message ${Array.from({ length: size / 12 }, (_, i) => `a${i}='1'`).join(" ")}/>`],
  ["blanks", (size: number) => `<message${" ".repeat(size)}/>`],
])("the work for a tag with %s grows with its length", (_name, tagOf) => {
  const work = (size: number) => {
    const text = STREAM + tagOf(size);
    return () => read(text, 16_384);
  };

  expect(growth(work, { from: 16_000, to: 1_000_000 })).toBeLessThan(LINEAR);
});

test("a stanza without an end ends the stream", () => {
  expect(() => read(`${STREAM}<message><body>${"x".repeat(17_000_000)}`, 65_536)).toThrow(XmlFault);
});
