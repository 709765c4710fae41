import { describe, expect, test } from "vitest";
import { redactSecrets } from "./redact.ts";

const long = "abcdef0123456789uvwxyz";

describe("secrets are masked", () => {
  test.each([
    ["an assignment", `OPENAI_API_KEY=${long}`, "OPENAI_API_KEY=abcdef…wxyz"],
    ["an assignment with a short value", "DB_PASSWORD=hunter2", "DB_PASSWORD=***"],
    ["an assignment in lower case", "password=hunter2 rest", "password=*** rest"],
    ["a quoted assignment with blanks", 'SECRET="two words and more here"', 'SECRET="two wo…here"'],
    ["an export", `export GITHUB_TOKEN=${long}; ls`, "export GITHUB_TOKEN=abcdef…wxyz; ls"],
    ["an assignment with a colon", `API_KEY: ${long}`, "API_KEY: abcdef…wxyz"],
    ["a password that was told", "The password: hunter2, as always", "The password: ***, as always"],
    ["a header", `x-api-key: ${long}`, "x-api-key: abcdef…wxyz"],
    ["a JSON field", `{"apiKey":"${long}","id":1}`, '{"apiKey":"abcdef…wxyz","id":1}'],
    ["a short JSON field", '{"token": "t1"}', '{"token": "***"}'],
    ["a JSON password with quotes inside", String.raw`{"password":"a\"b"}`, '{"password":"***"}'],
    [
      "further JSON fields",
      `{"secret":"s","accessToken":"a","refreshToken":"r"}`,
      '{"secret":"***","accessToken":"***","refreshToken":"***"}',
    ],
    ["JSON inside a text", String.raw`"{\"token\":\"${long}\"}"`, String.raw`"{\"token\":\"abcdef…wxyz\"}"`],
    ["a flag", `run --token ${long} --now`, "run --token abcdef…wxyz --now"],
    ["a flag with =", "run --api-key=short", "run --api-key=***"],
    ["a longer flag", `login --client-secret ${long}`, "login --client-secret abcdef…wxyz"],
    ["an authorization header", `Authorization: Bearer ${long}`, "Authorization: Bearer abcdef…wxyz"],
    ["a short one", "Authorization: Basic dXNlcjpwdw==", "Authorization: Basic ***"],
    ["a bearer value alone", `the header was Bearer ${long}`, "the header was Bearer abcdef…wxyz"],
    ["sk-", `use sk-${long} now`, "use sk-abc…wxyz now"],
    ["a short sk-", "use sk-12345678 now", "use *** now"],
    ["ghp_", `ghp_${long}`, "ghp_ab…wxyz"],
    ["github_pat_", `github_pat_${long}`, "github…wxyz"],
    ["xoxb-", "xoxb-123456789012-abcdefghijkl", "xoxb-1…ijkl"],
    ["xapp-", "xapp-1-A0123456789-abcdefgh", "xapp-1…efgh"],
    ["gsk_", `gsk_${long}`, "gsk_ab…wxyz"],
    ["AIza", "AIzaSyA0123456789abcdefghijklmnopqrstuv", "AIzaSy…stuv"],
    ["pplx-", `pplx-${long}`, "pplx-a…wxyz"],
    ["npm_", `npm_${long}`, "npm_ab…wxyz"],
    ["a bot token", "bot 123456789:ABCdefGHIjklMNOpqrSTUvwxYZ012345678 is on", "bot 123456…5678 is on"],
  ])("%s", (_name, said, kept) => {
    expect(redactSecrets(said)).toBe(kept);
  });

  test("a private key keeps its frame only, also when it was cut off", () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQ";
    const whole = `see\n-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----\nthanks`;
    expect(redactSecrets(whole)).toBe("see\n-----BEGIN RSA PRIVATE KEY-----…-----END RSA PRIVATE KEY-----\nthanks");
    expect(redactSecrets(`-----BEGIN PRIVATE KEY-----\n${body}`)).toBe("-----BEGIN PRIVATE KEY-----…");
  });

  test("17 characters are masked whole, 18 keep six and four", () => {
    expect(redactSecrets(`TOKEN=${"a".repeat(17)}`)).toBe("TOKEN=***");
    expect(redactSecrets(`TOKEN=${"a".repeat(18)}`)).toBe("TOKEN=aaaaaa…aaaa");
  });

  test("what is masked already stays as it is", () => {
    const once = redactSecrets(`TOKEN=sk-${long} and {"token":"x"} and --password abc`);
    expect(redactSecrets(once)).toBe(once);
  });
});

describe("ordinary words stay", () => {
  test.each([
    "The key: it hangs in the hall.",
    "Bearer of good news",
    "monkey=banana-free zone is not a secret's name".replace("monkey=", "monkeys "),
    "task-force, risk-averse, desk-12345678",
    "At 10:30 the meeting with 12 people begins",
    "tokens are counted by the vendor",
    "The secret garden is a book",
  ])("%s", (said) => {
    expect(redactSecrets(said)).toBe(said);
  });
});

test("hostile texts of a quarter of a megabyte do not hold up the index", () => {
  const hostile = [
    "a".repeat(250_000),
    "--a-".repeat(60_000),
    "-----BEGIN ".repeat(25_000),
    '"token":"'.repeat(25_000),
    "1".repeat(250_000),
    "key=".repeat(60_000),
    "Authorization: ".repeat(16_000),
    `"${"\\".repeat(250_000)}`,
    `TOKEN="${"\\a".repeat(120_000)}`,
    "bearer ".repeat(30_000),
    "A ".repeat(125_000),
  ];
  expect(hostile.map((text) => redactSecrets(text).length > 0)).not.toContain(false);
});
