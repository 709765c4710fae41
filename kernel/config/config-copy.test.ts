import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { REDACTED_VALUE } from "../../sdk/config/fields.ts";
import { configTexts, refillText } from "./config-copy.ts";
import { loadConfig } from "./load.ts";

async function textsOf(files: Record<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), "svc-config-copy-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return configTexts(await loadConfig(join(dir, "svc.json"), { env: {}, secrets: "none" }), {});
}

test("a secret goes from the file that it stands in, by its place in the whole tree; comments and the rest stay", async () => {
  const [main, included] = await textsOf({
    "svc.json":
      '// mine\n{ gateway: { mode: "local", auth: { $include: "./auth.json5" } }, models: { providers: { a: { apiKey: "sk-of-the-main-file" } } } }\n',
    "auth.json5": '{ token: "token-of-an-included-file" } // door\n',
  });
  expect(main?.redacted).toBe(
    `// mine\n{ gateway: { mode: "local", auth: { $include: "./auth.json5" } }, models: { providers: { a: { apiKey: "${REDACTED_VALUE}" } } } }\n`,
  );
  expect(included?.redacted).toBe(`{ token: "${REDACTED_VALUE}" } // door\n`);
  expect(included?.text).toContain("token-of-an-included-file");
});

test("of a file that does not parse nothing is told", async () => {
  expect(await textsOf({ "svc.json": '{ gateway: { auth: { token: "abc' })).toMatchObject([{ redacted: undefined }]);
});

const redacted = `{
  // the door
  gateway: { mode: "local", auth: { token: "${REDACTED_VALUE}" } },
  models: { providers: { a: { baseUrl: "https://${REDACTED_VALUE}@host/v1", apiKey: "${REDACTED_VALUE}" } } },
  channels: { irc: { accounts: [{ id: "x", password: "${REDACTED_VALUE}" }, { id: "y", password: "${REDACTED_VALUE}" }] } },
}
`;

test("values of the present file fill what was redacted, members of lists by their id; entries that it lacks go and are named", () => {
  const present = `{
    gateway: { auth: { token: "t" } },
    models: { providers: { a: { baseUrl: "https://me:pw@other/v1", apiKey: "k" } } },
    channels: { irc: { accounts: [{ id: "y", password: "p" }] } },
  }`;
  expect(refillText(redacted, present)).toEqual({
    text: redacted
      .replace(`token: "${REDACTED_VALUE}"`, 'token: "t"')
      .replace(`baseUrl: "https://${REDACTED_VALUE}@host/v1", apiKey: "${REDACTED_VALUE}"`, 'apiKey: "k"')
      .replace(`{ id: "x", password: "${REDACTED_VALUE}" }`, '{ id: "x" }')
      .replace(REDACTED_VALUE, "p"),
    missing: ["models.providers.a.baseUrl", "channels.irc.accounts[0].password"],
  });
});

test("without a present file everything secret goes, and comments stay", () => {
  const { text, missing } = refillText(redacted, undefined);
  expect(text).toContain("// the door");
  expect(text).not.toContain(REDACTED_VALUE);
  expect(missing).toHaveLength(5);
});

test("a text without secrets keeps its bytes", () => {
  expect(refillText("{ a: 1, /* b */ }\n", "{}")).toEqual({ text: "{ a: 1, /* b */ }\n", missing: [] });
});
