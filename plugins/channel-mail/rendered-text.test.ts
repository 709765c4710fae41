import { expect, test } from "vitest";
import { renderText } from "./rendered-text.ts";

test("a text goes out as it is, and as HTML in which nothing of it is a tag", () => {
  expect(renderText({ text: 'a <b> & "c"\nd\u0000', spans: [] })).toEqual({
    text: 'a <b> & "c"\nd',
    parseMode: "html",
    entities: ["<div>a &lt;b&gt; &amp; &quot;c&quot;<br>\nd</div>"],
  });
});

test("spans become tags, and addresses stand behind the words of links", () => {
  const text = "bold here quoted\nlines code";
  const rendered = renderText({
    text,
    spans: [
      { kind: "bold", start: 0, end: 4 },
      { kind: "link", start: 5, end: 9, href: "https://x.example/?a=1&b" },
      { kind: "quote", start: 10, end: 22 },
      { kind: "codeBlock", start: 23, end: 27 },
    ],
  });

  expect(rendered.text).toBe("bold here (https://x.example/?a=1&b) > quoted\n> lines code");
  expect(rendered.entities).toEqual([
    '<div><b>bold</b> <a href="https://x.example/?a=1&amp;b">here</a> <blockquote>quoted<br>\nlines</blockquote> <pre>code</pre></div>',
  ]);
});

test("spans that overlap are closed and opened again, and a link to a script is none", () => {
  const spans = [
    { kind: "bold" as const, start: 0, end: 3 },
    { kind: "italic" as const, start: 2, end: 5 },
    { kind: "link" as const, start: 5, end: 6, href: "javascript:x" },
  ];
  expect(renderText({ text: "abcdef", spans }).entities).toEqual(["<div><b>ab<i>c</i></b><i>de</i><a>f</a></div>"]);
});
