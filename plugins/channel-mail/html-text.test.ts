import { describe, expect, test } from "vitest";
import { htmlToText } from "./html-text.ts";

const textOf = (html: string) => htmlToText(html).text;

describe("text of an HTML mail", () => {
  test.each([
    ["paragraphs and breaks", "<p>one</p><p>two<br>three</p>", "one\n\ntwo\nthree"],
    ["blanks as a browser shows them", "<p>  a \n b\t c  </p>", "a b c"],
    ["lines of preformatted text", "<pre>a\n  b</pre>", "a\n  b"],
    ["lists", "<ul><li>one<li>two</ul>after", "- one\n- two\n\nafter"],
    ["tables, cell by cell", "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"],
    ["quotations", "<blockquote>said<br>before</blockquote>now", "> said\n> before\n\nnow"],
    ["addresses of links behind their words", '<a href="https://x.example/a?b=1&amp;c">here</a>', "here (https://x.example/a?b=1&c)"],
    ["a link that is its own address", '<a href="https://x.example">https://x.example</a>', "https://x.example"],
    ["no address that is no place", '<a href="javascript:alert(1)">here</a>', "here"],
    ["pictures by their texts", '<img src="cid:1" alt="a cat">', "[image: a cat]"],
    ["entities", "&lt;b&gt; &amp; &#8364; &#x1F600; &nope; &#0;", "<b> & € 😀 &nope; �"],
    ["signs that are no tags", "1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
    ["a quoted > in a tag", '<p title="a > b">text</p>', "text"],
    ["a tag without an end", "before <b", "before <b"],
  ])("%s", (_, html, text) => {
    expect(htmlToText(html)).toEqual({ text, hiddenChars: 0 });
  });

  test.each([
    ["display: none", '<div style="display:none">secret</div>'],
    ["display: none, shouted", '<DIV STYLE="DISPLAY : NONE !important">secret</DIV>'],
    ["visibility: hidden", '<span style="visibility: hidden">secret</span>'],
    ["no size", '<span style="font-size:0">secret</span>'],
    ["one pixel", '<span style="font-size: 1px">secret</span>'],
    ["no height", '<div style="max-height:0px;overflow:hidden">secret</div>'],
    ["no opacity", '<div style="opacity:0">secret</div>'],
    ["white on white", '<span style="color:#fff">secret</span>'],
    ["almost white on white", '<font color="#FDFDFE">secret</font>'],
    ["white on white by rgb", '<span style="color:rgb(255, 255, 255)">secret</span>'],
    ["black on black", '<table bgcolor="black"><tr><td style="color:#000">secret</td></tr></table>'],
    ["the colour of a background further out", '<div style="background:#123456"><p><span style="color:#123456">secret</span></p></div>'],
    ["far off the page", '<div style="position:absolute;left:-9999px">secret</div>'],
    ["an indent off the page", '<div style="text-indent:-9999px">secret</div>'],
    ["hidden for one program", '<div style="mso-hide:all">secret</div>'],
    ["the attribute hidden", "<div hidden>secret</div>"],
    ["a class of a style sheet", "<style>.x { display: none }</style><p class='a x'>secret</p>"],
    ["an element of a style sheet", "<style>/* } */ i{font-size:0px}</style><i>secret</i>"],
    ["an id of a style sheet", "<style>div#y, i{opacity:0}</style><div id=y>secret</div>"],
    ["what stands deeper inside", "<div style='display:none'><p>sec<b>ret</b></p></div>"],
    ["a text field", "<textarea>secret</textarea>"],
    ["a template", "<template><p>secret</p></template>"],
    ["a link that hides itself", '<a href="https://secret.example" style="display:none">secret</a>'],
  ])("leaves out, and counts, %s", (_, html) => {
    expect(htmlToText(`<p>Hello</p>${html}<p>Ada</p>`)).toEqual({ text: "Hello\n\nAda", hiddenChars: 6 });
  });

  test.each([
    ["a comment", "<!-- secret -->"],
    ["a comment for one program", "<!--[if mso]><p>secret</p><![endif]-->"],
    ["a script", "<script>secret = '</p>'</script>"],
    ["a style sheet", "<style>secret{}</style>"],
    ["a comment without an end", "<!-- secret"],
    ["a hidden picture", '<img style="display:none" alt="secret">'],
  ])("says nothing of %s", (_, html) => {
    expect(textOf(`<p>Hello</p>${html}`)).toBe("Hello");
  });

  test("shows again what is visible inside of other colours", () => {
    expect(textOf('<div style="color:white"><table bgcolor="#003366"><tr><td>seen</td></tr></table></div>')).toBe("seen");
    expect(textOf('<p style="display:none">secret<p>seen')).toBe("seen");
    expect(textOf("<style>@media (max-width:600px){ .d{display:none} }</style><p class=d>seen</p>")).toBe("seen");
  });

  test.each([
    ["tags without an end", "<a ".repeat(100_000)],
    ["quotes without an end", '<a ="'.repeat(100_000)],
    ["quotes of both kinds", `<a ="><a ='>`.repeat(50_000)],
    ["deep elements", "<div>".repeat(100_000)],
    ["deep links", '<a href="https://x.example/">'.repeat(30_000)],
    ["ends without a beginning", "</b>".repeat(200_000)],
    ["comments without an end", "<!-- ".repeat(200_000)],
    ["comments", "<!---->".repeat(100_000)],
    ["style sheets without an end", "<style>a{".repeat(100_000)],
    ["blanks", `<pre>${" ".repeat(1_000_000)}x</pre>`],
    ["ampersands", "&".repeat(1_000_000)],
    ["attributes", `<p ${"a=b ".repeat(200_000)}>x</p>`],
    ["selectors", `<style>${".a,".repeat(200_000)}{display:none}</style>x`],
  ])("ends for a megabyte of %s", { timeout: 60_000 }, (_, html) => {
    // A step that grew faster than the text would take hours.
    expect(htmlToText(html).text.length).toBeLessThanOrEqual(2 * html.length);
  });
});
