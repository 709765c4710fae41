import assert from "node:assert/strict";
import type { Channel, MarkdownIR } from "../types/channel.ts";
import { seenBy } from "./channel-drive.ts";
import type { ChannelStage, ChannelSubject } from "./channel-stage.ts";
import type { ContractCase } from "./contract.ts";

type OnStage = (subject: ChannelSubject, check: (stage: ChannelStage) => Promise<void>) => Promise<void>;
type Span = MarkdownIR["spans"][number];

const kinds: readonly Span["kind"][] = ["bold", "italic", "strike", "code", "codeBlock", "link", "quote", "heading"];
const HREF = "https://example.org/a_b?c=d";
/** Largest piece that is sent; a platform without a limit gets no megabytes. */
const MAX_PIECE = 4_000;

/** Cases about texts: how they are rendered, and that pieces of a long one arrive as the host has cut them. */
export function channelTextCases(subject: ChannelSubject, onStage: OnStage): ContractCase[] {
  const pure = (name: string, check: (channel: Channel) => void): ContractCase => ({ name, run: async () => check(subject.create()) });
  const make = (name: string, check: (stage: ChannelStage) => Promise<void>): ContractCase => ({
    name,
    run: () => onStage(subject, check),
  });
  return [
    pure("a rendered text has every word once and in order, and the address of each link", checkWords),
    pure("a text is rendered alike each time, whatever was rendered before it", checkRepeats),
    pure("every piece of a style is marked as the whole is", checkMarks),
    make("pieces of a long text arrive whole, once and in order, with their styles, fences and wide characters", checkPieces),
  ];
}

function checkWords({ text: { render } }: Channel): void {
  const text = "alpha bravo charlie\ndelta echo foxtrot\ngolf hotel india";
  const words = text.split(/\s/);
  const shapes: Span[][] = [
    [],
    ...kinds.map((kind) => [span(kind, 6, 11)]),
    ...kinds.map((kind) => [span(kind, 0, text.length)]),
    // One inside the other, one behind the other, and all over the same words.
    [span("quote", 0, 38), span("bold", 6, 38), span("link", 12, 19), span("italic", 20, 25)],
    [span("bold", 0, 5), span("italic", 5, 11), span("code", 12, 19)],
    [span("quote", 0, 19), span("bold", 0, 19), span("italic", 0, 19), span("link", 0, 19)],
  ];
  for (const spans of shapes) {
    const rendered = render({ text, spans });
    const what = `spans ${JSON.stringify(spans)} gave ${JSON.stringify(rendered)}`;
    const shown = (rendered.text.match(/[a-z]+/g) ?? []).filter((word) => words.includes(word));
    assert.deepEqual(shown, words, what);
    if (spans.some(({ href }) => href)) assert.ok(JSON.stringify(rendered).includes(HREF), `the address of a link is lost; ${what}`);
  }
}

/** Calls it between two texts that leave nothing open and everything open. */
function checkRepeats({ text: { render } }: Channel): void {
  const plain = { text: "plain words", spans: [] };
  const before = render(plain);
  for (const kind of kinds) {
    const styled = { text: "styled words", spans: [span(kind, 0, 12)] };
    assert.deepEqual(render(styled), render(styled), `a ${kind} is rendered in another way the second time`);
    assert.deepEqual(render(plain), before, `a text is rendered in another way behind a ${kind}`);
  }
}

/** A style that the host has cut comes as two: each of them begins and ends like the whole. */
function checkMarks({ text: { render } }: Channel): void {
  for (const kind of kinds) {
    const around = (word: string) => render({ text: word, spans: [span(kind, 0, word.length)] }).text.split(word);
    assert.deepEqual(around("xylophone"), around("zzz"), `the marks of a ${kind} depend on what is in it`);
  }
}

async function checkPieces({ channel, account, peer }: ChannelStage): Promise<void> {
  const limit = Math.min(channel.text.limit, MAX_PIECE);
  const shapes: Array<{ unit: string; spans: (length: number) => Span[] }> = [
    { unit: "one two ", spans: (length) => [span("bold", 0, length)] },
    { unit: "let x = 1;\n", spans: (length) => [{ ...span("codeBlock", 0, length), language: "ts" }] },
    { unit: "日本 Grüße 👩‍🔬 ", spans: () => [] },
  ];
  const sent: string[] = [];
  for (const { unit, spans } of shapes) {
    const text = longest(channel, { limit, unit, spans });
    sent.push(channel.text.render({ text, spans: spans(text.length) }).text);
    await account.send({ to: peer.direct, text: channel.text.render({ text, spans: spans(text.length) }) });
  }
  const seen = () => letters(peer.seen.flatMap((action) => (action.kind === "message" ? [action.text] : [])).join(" "));
  await seenBy(peer, "message", () => seen() === letters(sent.join(" ")));
}

/** The unit as often as it fits into one piece once it is rendered. */
function longest(
  { text: { unit: measure, render } }: Channel,
  { limit, unit, spans }: { limit: number; unit: string; spans: (length: number) => Span[] },
): string {
  const fits = (times: number) => {
    const text = unit.repeat(times).trim();
    return sizeOf(render({ text, spans: spans(text.length) }).text, measure) <= limit;
  };
  let [least, most] = [0, limit];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  assert.ok(least > 0, `not even one ${JSON.stringify(unit)} fits into the limit`);
  return unit.repeat(least).trim();
}

function sizeOf(text: string, unit: Channel["text"]["unit"]): number {
  if (unit === "bytes") return Buffer.byteLength(text);
  return unit === "utf16" ? text.length : [...text].length;
}

/** Platforms have marks of their own for styles, and some send each line by itself. */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{Extended_Pictographic}\u200d]/gu, "");
}

function span(kind: Span["kind"], start: number, end: number): Span {
  return { kind, start, end, ...(kind === "link" ? { href: HREF } : {}) };
}
