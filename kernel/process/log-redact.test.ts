import { expect, test } from "vitest";
import { createRedactor } from "./log-redact.ts";

test("the names that hide a value in the config hide it in a record too", () => {
  const secrets = { token: "a", passphrase: "b", signingKey: "c", secretAccessKey: "d", bearer: "e", passwd: "f", "private-key": ["g"] };
  const { fields } = createRedactor().redact("started", { ...secrets, sessionKey: "agent:main", maxTokens: "5" });
  const masked = Object.fromEntries(Object.keys(secrets).map((name) => [name, "[redacted]"]));
  expect(fields).toEqual({ ...masked, sessionKey: "agent:main", maxTokens: "5" });
});

test("a long text loses secrets and what patterns match wherever they stand", async () => {
  const redactor = createRedactor();
  redactor.addSecret("open\nsesame");
  redactor.usePatterns(() => ["acct-\\d+"]);
  const line = `${"word ".repeat(50)}acct-1234 Bearer abcdefghij\n`;
  const text = `${line.repeat(400)}open\nsesame\n${"x".repeat(50_000)}acct-5`;

  const clean = await redactor.redactText(text);

  expect(clean).toBe(
    `${line.replace("acct-1234", "[redacted]").replace("abcdefghij", "[redacted]").repeat(400)}[redacted]\n${"x".repeat(50_000)}[redacted]`,
  );
});

test("a piece that patterns take too long for is masked whole", async () => {
  const redactor = createRedactor();
  redactor.usePatterns(() => ["(a+)+$"]);
  expect(await redactor.redactText(`${"a".repeat(60)}!`)).toBe("[redacted]");
});

test("what patterns match is found where two pieces of a long text meet, with a line or without", async () => {
  const redactor = createRedactor();
  redactor.usePatterns(() => ["acct-\\d+", "open \\w+"]);
  for (const before of ["x".repeat(32_764), `${"word\n".repeat(3_276)}open`, `${"word\n".repeat(3_276)}1234567acct-`]) {
    const after = before.endsWith("open") ? " sesame" : "acct-12345678".slice(before.endsWith("-") ? 5 : 0);
    const clean = await redactor.redactText(`${before}${after} and more${" ".repeat(40_000)}`);
    expect(clean.match(/\[redacted\]/g)).toHaveLength(1);
    expect(clean).not.toMatch(/acct|sesame|5678/);
    expect(clean).toContain("[redacted] and more");
  }
});

test("a secret with quotes and lines is found in JSON, and in JSON within it", async () => {
  const redactor = createRedactor();
  const secret = 'pa"ss\nword\\end';
  redactor.addSecret(secret);
  const inner = JSON.stringify({ key: secret });
  const text = JSON.stringify({ secret, inner, plain: "word" });
  expect(JSON.parse(await redactor.redactText(text))).toEqual({ secret: "[redacted]", inner: '{"key":"[redacted]"}', plain: "word" });
  expect(redactor.redact(inner, {}).message).toBe('{"key":"[redacted]"}');
});
