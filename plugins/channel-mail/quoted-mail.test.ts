import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../test/tools/growth.ts";
import { withoutQuotedMail } from "./quoted-mail.ts";

const quote = "> Is there bread?\n>\n> -- \n> the agent";

describe("the mail that is answered", () => {
  test.each([
    ["behind On … wrote:", `Yes.\n\nOn Mon, 23 Nov 2026 at 10:00, svc <agent@example.net> wrote:\n\n${quote}\n`],
    ["behind a line that is wrapped", `Yes.\n\nOn Mon, 23 Nov 2026 at 10:00,\nsvc <agent@example.net>\nwrote:\n${quote}`],
    ["in German", `Yes.\n\nAm 23.11.26 um 10:00 schrieb svc:\n${quote}`],
    ["in French", `Yes.\n\nLe lun. 23 nov. 2026 à 10:00, svc a écrit :\n\n${quote}`],
    ["of Outlook", "Yes.\n\n-----Original Message-----\nFrom: svc\nSent: Monday\n\nIs there bread?"],
    ["of Outlook in German", "Yes.\n\n-----Ursprüngliche Nachricht-----\nVon: svc\n\nIs there bread?"],
    ["in Outlook that quotes too", `Yes.\n-------- Original Message --------\nOn Monday svc wrote:\n${quote}`],
  ])("is taken off: %s", (_, text) => {
    expect(withoutQuotedMail(text)).toBe("Yes.");
  });

  test.each([
    ["an answer between the lines", `On Monday svc wrote:\n> Is there bread?\nYes.\n> And butter?\nNo.`],
    ["an answer below the lines", `On Monday svc wrote:\n${quote}\n\nYes.`],
    ["quoted lines that nobody is named for", `Somebody said\n\n${quote}`],
    ["a quotation of the sender's own choice", `My favourite line:\n${quote}`],
    ["a mail that is nothing else", `On Monday svc wrote:\n${quote}`],
    ["a forwarded mail", "\n-----Original Message-----\nFrom: svc\n\nIs there bread?"],
    ["dashes and words in a line of text", "I read ----- Original Message ----- in it.\nDid you?"],
    ["a plain text", "On Monday I bake:\nbread."],
    ["nothing", ""],
  ])("stays where it is all there is, or not at the end: %s", (_, text) => {
    expect(withoutQuotedMail(text)).toBe(text);
  });
});

test.each([
  ["quoted lines", (n: number) => `a\n${"> x\n".repeat(n)}`],
  ["attributions", (n: number) => `${"On x:\n".repeat(n)}> x`],
  ["blank lines", (n: number) => `a${"\n".repeat(4 * n)}> x`],
  ["dashes", (n: number) => `a\n${"-".repeat(4 * n)}`],
  ["lines of dashes", (n: number) => `a\n${"-------- a\n".repeat(n)}`],
  ["blanks in lines", (n: number) => `a\n${" ".repeat(4 * n)}x\n${"> \n".repeat(n)}`],
  ["a first line without an end", (n: number) => `On ${"a ".repeat(2 * n)}:\n> x`],
])("a hostile text is read in time that grows with its length: %s", (_, make) => {
  const work = (lines: number) => {
    const text = make(lines);
    return () => withoutQuotedMail(text);
  };
  expect(growth(work, { from: 1_000, to: 50_000 })).toBeLessThan(LINEAR);
});
