import { vendorIn } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { needsPackages } from "../../test/servers/vendored.ts";
import { MAX_FIELD_CHARS } from "./mime.ts";
import { MailParser, MailTooHard } from "./parser.ts";
import { verdictOn } from "./sender.ts";

const { describe, test } = await needsPackages("channel-mail");

const head = (...lines: string[]) =>
  ["From: Ada <ada@example.org>", "Subject: Hello", "Message-ID: <1@example.org>", ...lines].join("\r\n");

describe("a mail", () => {
  let parser: MailParser;
  beforeAll(() => {
    parser = new MailParser({ vendor: vendorIn(import.meta.dirname), limitMs: 60_000 });
  });
  afterAll(() => parser.close());
  const parse = (mail: string, isCut = false) => parser.parse(Buffer.from(mail), isCut);

  test("is read with its words, attachments and names", async () => {
    const mail = await parse(
      [
        head(
          "References: <a@x> <b@x>",
          "In-Reply-To: <b@x>",
          "Date: Mon, 23 Nov 2026 10:00:00 +0000",
          "Content-Type: multipart/mixed; boundary=b",
        ),
        "",
        "--b",
        "Content-Type: text/plain; charset=iso-8859-1",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "Gr=FC=DFe",
        "--b",
        'Content-Type: text/csv; name="a.csv"',
        "Content-Disposition: attachment",
        "",
        "1,2",
        "--b--",
      ].join("\r\n"),
    );

    expect(mail).toMatchObject({
      from: [{ address: "ada@example.org", name: "Ada" }],
      subject: "Hello",
      messageId: "1@example.org",
      inReplyTo: "b@x",
      references: ["a@x", "b@x"],
      date: Date.UTC(2026, 10, 23, 10),
      text: "Grüße",
      hiddenChars: 0,
      attachments: [{ name: "a.csv", mime: "text/csv" }],
    });
    expect(Buffer.from(mail.attachments[0]?.content ?? []).toString()).toMatch(/^1,2/);
  });

  test("is read as a person's program shows it: HTML before plain text, without what it hides", async () => {
    const alternative = [
      head("Content-Type: multipart/alternative; boundary=b"),
      "",
      "--b",
      "Content-Type: text/plain",
      "",
      "other words",
      "--b",
    ];
    const html = ["Content-Type: text/html", "", '<p>words</p><p style="display:none">hidden</p>', "--b--"];

    expect(await parse([...alternative, ...html].join("\r\n"))).toMatchObject({ text: "words", hiddenChars: 6 });
  });

  test("hides nothing behind a second text part", async () => {
    const mixed = [
      head("Content-Type: multipart/mixed; boundary=b"),
      "",
      "--b",
      "Content-Type: text/html",
      "",
      "<p>words</p><p hidden>hidden</p>",
    ];

    const mail = await parse([...mixed, "--b", "Content-Type: text/plain", "", "footer", "--b--"].join("\r\n"));

    expect(mail.text).toMatch(/words\s+footer/);
    expect(mail.text).not.toContain("hidden");
  });

  test.each([
    ["two authors", "From: a@example.org, b@example.org\r\nSubject: x\r\n\r\ntext"],
    ["two fields", "From: a@example.org\r\nFrom: b@example.org\r\n\r\ntext"],
    ["no field", "Subject: x\r\n\r\ntext"],
    ["an address with blanks", 'From: "a b"@example.org\r\n\r\ntext'],
  ])("with %s has no author", async (_, mail) => {
    expect((await parse(mail)).from).toEqual([]);
  });

  test("with too much header is read by its beginning", async () => {
    const flood = Array.from({ length: 5_000 }, (_, i) => `X-Flood-${i}: ${"x".repeat(50)}`);

    expect(await parse(`${head(...flood)}\r\n\r\ntext`)).toMatchObject({ subject: "Hello", text: "", fault: "headers" });
    expect((await parse(`${head(...flood.slice(0, 500))}\r\n\r\ntext`)).fault).toBeUndefined();
  });

  const parts = (count: number) =>
    `${head('Content-Type: multipart/mixed; boundary="b b"')}\r\n\r\n${"--b b\r\nContent-Type: text/plain\r\n\r\nx\r\n".repeat(count)}--b b--\r\n`;

  test("with 10,000 parts is read by its header", async () => {
    expect(await parse(parts(10_000))).toMatchObject({ subject: "Hello", text: "", attachments: [], fault: "parts" });
    expect((await parse(parts(900))).fault).toBeUndefined();
    expect((await parse(`${head()}\r\n\r\n${"-- \r\n----------\r\n".repeat(5_000)}`)).fault).toBeUndefined();
  });

  test("with parts in parts in parts is read by its header", async () => {
    const nested = (depth: number): string =>
      depth === 0
        ? "Content-Type: text/plain\r\n\r\nx\r\n"
        : `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${nested(depth - 1)}--b${depth}--\r\n`;

    expect(await parse(`${head()}\r\n${nested(200)}`)).toMatchObject({ subject: "Hello", fault: "nesting" });
    expect((await parse(`${head()}\r\n${nested(10)}`)).fault).toBeUndefined();
  });

  test("with mails in mails is read three deep; the rest is attached", async () => {
    const nested = (depth: number): string =>
      depth === 0
        ? "Subject: innermost\r\n\r\nx\r\n"
        : `Subject: level ${depth}\r\nContent-Type: message/rfc822\r\n\r\n${nested(depth - 1)}`;

    const mail = await parse(`${head()}\r\nContent-Type: message/rfc822\r\n\r\n${nested(500)}`);

    expect(mail.text).toContain("level 500");
    expect(mail.text).not.toContain("level 490");
    expect(mail.attachments).toMatchObject([{ mime: "message/rfc822" }]);
  });

  test("of which only the beginning is there keeps its words and names its attachments", async () => {
    const mail = [head("Content-Type: multipart/mixed; boundary=b"), "", "--b", "Content-Type: text/plain", "", "words", "--b"];
    const attachment = ["Content-Type: image/png; name=a.png", "Content-Transfer-Encoding: base64", "", "AAAA".repeat(1_000)];

    expect(await parse([...mail, ...attachment].join("\r\n"), true)).toMatchObject({
      text: expect.stringMatching(/^words/),
      attachments: [],
      leftOut: ["a.png"],
      fault: "size",
    });
  });

  test.each([
    ["a domain", " dkim=pass header.d=example.org|.evil.example"],
    ["a later result", " dkim=pass header.d=example.org;| dmarc=fail"],
  ])("whose check of the sender is cut within %s is nobody's", async (_, results) => {
    const [kept = "", rest = ""] = results.split("|");
    const start = "mx.example.net (";
    const checked = async (tail: string) => {
      const field = `${start}${"x".repeat(MAX_FIELD_CHARS - start.length - 2 - kept.length)});${kept}`;
      return verdictOn(await parse(`${head(`Authentication-Results: ${field}${tail}`)}\r\n\r\nwords`), ["mx.example.net"]);
    };

    expect(await checked("")).toBe("pass");
    expect(await checked(rest)).toBe("fail");
  });

  test("that takes too long ends its thread, and the next one is parsed", async () => {
    const impatient = new MailParser({ vendor: vendorIn(import.meta.dirname), limitMs: 0 });
    try {
      await expect(impatient.parse(Buffer.from(parts(900)), false)).rejects.toThrow(MailTooHard);
    } finally {
      await impatient.close();
    }
    expect((await parse(`${head()}\r\n\r\ntext`)).text).toBe("text");
  });
});
