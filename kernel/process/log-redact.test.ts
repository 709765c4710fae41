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
