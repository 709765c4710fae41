import { describe, expect, test } from "vitest";
import { autoMailReason } from "./auto-mail.ts";
import { verdictOn } from "./sender.ts";

const from = [{ address: "ada@mail.example.org", name: "Ada" }];
const verdict = (...fields: string[]) => verdictOn({ from, fields: { "authentication-results": fields } }, ["mx.example.net"]);

describe("the verdict on a sender", () => {
  test.each([
    ["dmarc passed", "mx.example.net; dmarc=pass (p=REJECT) header.from=mail.example.org", "pass"],
    ["with a version and a comment", "mx.example.net 1; (ok; dmarc=fail) dmarc=pass header.from=mail.example.org", "pass"],
    ["dmarc of another domain", "mx.example.net; dmarc=pass header.from=example.com", "fail"],
    [
      "dmarc failed, and dkim passed",
      "mx.example.net; dkim=pass header.d=mail.example.org; dmarc=fail header.from=mail.example.org",
      "fail",
    ],
    ["dkim of the domain", "mx.example.net; dkim=pass header.d=mail.example.org", "pass"],
    ["dkim of a domain above", "mx.example.net; dmarc=none; dkim=pass header.i=@example.org", "pass"],
    ["dkim of a domain below", "mx.example.net; dkim=pass header.d=evil.mail.example.org", "fail"],
    ["dkim of another domain", "mx.example.net; dkim=pass header.d=evil.example", "fail"],
    ["dkim of a domain that ends like it", "mx.example.net; dkim=pass header.d=le.org", "fail"],
    ["dkim of a whole zone", "mx.example.net; dkim=pass header.d=org", "fail"],
    ["spf of the domain", "mx.example.net; spf=pass smtp.mailfrom=bounce@mail.example.org", "pass"],
    ["spf that is not sure", "mx.example.net; spf=softfail smtp.mailfrom=ada@mail.example.org", "fail"],
    ["a pass inside of a comment", "mx.example.net; dmarc=fail (dmarc=pass header.from=mail.example.org)", "fail"],
    ["a second value in quotes", `mx.example.net; spf=pass smtp.mailfrom="a smtp.mailfrom=u@mail.example.org b"@evil.example`, "fail"],
    ["a second value", "mx.example.net; spf=pass smtp.mailfrom=x@evil.example smtp.mailfrom=u@mail.example.org", "fail"],
    ["a result in quotes", `mx.example.net; spf=pass smtp.mailfrom="x; dmarc=pass ;"@evil.example`, "fail"],
    ["a result behind an escaped quote", `mx.example.net; spf=pass smtp.mailfrom="x\\"; dmarc=pass ;"@evil.example`, "fail"],
    ["a domain in a quoted identity", `mx.example.net; dkim=pass header.i="a header.d=mail.example.org b"@evil.example`, "fail"],
    ["a parenthesis in quotes", `mx.example.net; spf=pass smtp.mailfrom="("@mail.example.org; dmarc=fail reason=")"`, "fail"],
    ["a parenthesis escaped in a comment", "mx.example.net; dmarc=fail (\\) ; x=y) header.from=mail.example.org", "fail"],
    ["a result behind a parenthesis escaped in a comment", "mx.example.net; spf=fail (\\); dmarc=pass)", "fail"],
    ["a comment without an end", "mx.example.net; dkim=pass header.d=mail.example.org; spf=pass (a; dmarc=fail", "fail"],
    ["quotes without an end", `mx.example.net; dkim=pass header.d=mail.example.org; spf=pass smtp.helo="a; dmarc=fail`, "fail"],
    ["a stray quote before quotes", String.raw`mx.example.net; spf=pass smtp.helo=" smtp.mailfrom="; dmarc=pass ;\""@evil.example`, "fail"],
    ["a quoted local part of the domain", `mx.example.net; spf=pass smtp.mailfrom="a b"@mail.example.org`, "pass"],
    ["a quoted value", `mx.example.net; dmarc=pass reason="a; b" header.from="mail.example.org"`, "pass"],
    ["20 results", `mx.example.net; dkim=pass header.d=mail.example.org${"; dkim=none".repeat(19)}`, "pass"],
    ["more results than are read", `mx.example.net; dkim=pass header.d=mail.example.org${"; dkim=none".repeat(19)}; dmarc=fail`, "fail"],
    ["more words than are read", `mx.example.net; dmarc=pass${" a=b".repeat(50)} header.from=example.com`, "fail"],
    ["nothing", "mx.example.net; none", "fail"],
    ["another server", "mx.evil.example; dmarc=pass header.from=mail.example.org", "unknown"],
    ["the server as part of another name", "mx.example.net.evil.example; dmarc=pass header.from=mail.example.org", "unknown"],
  ])("%s", (_, field, expected) => {
    expect(verdict(field)).toBe(expected);
  });

  test("is that of the server's topmost field: what is below may be forged", () => {
    const forged = "mx.example.net; dmarc=pass header.from=mail.example.org";
    expect(verdict("mx.example.net; dmarc=fail", forged)).toBe("fail");
    expect(verdict("mx.evil.example; dmarc=fail", forged)).toBe("pass");
    expect(verdict()).toBe("unknown");
  });

  test("is never a pass without a single author", () => {
    expect(verdictOn({ from: [], fields: { "authentication-results": ["mx.example.net; dmarc=pass"] } }, ["mx.example.net"])).toBe("fail");
  });
});

test.each([
  [{ "auto-submitted": ["auto-replied"] }, "auto-submitted"],
  [{ "auto-submitted": ["auto-generated; owner-email=x"] }, "auto-submitted"],
  [{ "auto-submitted": ["No"] }, undefined],
  [{ precedence: ["bulk"] }, "bulk"],
  [{ precedence: ["first-class"] }, undefined],
  [{ "list-id": ["<friends.example.org>"] }, "list"],
  [{ "list-unsubscribe": ["<https://x.example>"] }, "list"],
  [{ "content-type": ["multipart/report; report-type=delivery-status"] }, "bounce"],
  [{ "return-path": ["<>"] }, "bounce"],
  [{ "return-path": ["<ada@mail.example.org>"] }, undefined],
  [{ "x-auto-response-suppress": ["DR, OOF, AutoReply"] }, "auto-response-suppress"],
  [{ "x-auto-response-suppress": ["DR, NDR"] }, undefined],
  [{ "x-autoreply": ["yes"] }, "auto-submitted"],
  [{}, undefined],
])("a mail with %j is not answered for the reason %s", (fields, reason) => {
  expect(autoMailReason({ from, subject: "Hello", fields: fields as Record<string, string[]> }, "agent@example.net")).toBe(reason);
});

test("mails of the account itself and of mail programs are not answered", () => {
  const reasonOf = (address: string) =>
    autoMailReason({ from: [{ address, name: "" }], subject: "Hello", fields: {} }, "agent@example.net");
  expect(["agent@example.net", "mailer-daemon@example.org", "postmaster@example.org", "ada@example.org"].map(reasonOf)).toEqual([
    "own-address",
    "bounce",
    "bounce",
    undefined,
  ]);
});

test.each([
  ["Automatic reply: Bread", "auto-reply-subject"],
  ["AutoReply: Bread", "auto-reply-subject"],
  ["Out of Office", "auto-reply-subject"],
  ["Out of the office: Bread", "auto-reply-subject"],
  ["Out of Office AutoReply: Bread", "auto-reply-subject"],
  ["Abwesenheitsnotiz: Brot", "auto-reply-subject"],
  ["Abwesenheitsnotiz Re: Brot", "auto-reply-subject"],
  ["Automatische Antwort: Brot", "auto-reply-subject"],
  ["Réponse automatique : pain", "auto-reply-subject"],
  ["Re: Automatic reply: Bread", undefined],
  ["Out of office supplies", undefined],
  ["Automatic replying is hard", undefined],
  ["Abwesenheit der Katze", undefined],
  [`Out of office${" ".repeat(100_000)}`, "auto-reply-subject"],
])("a mail with the subject %j is not answered for the reason %s", (subject, reason) => {
  expect(autoMailReason({ from, subject, fields: {} }, "agent@example.net")).toBe(reason);
});
