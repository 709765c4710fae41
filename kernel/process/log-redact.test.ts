import { expect, test } from "vitest";
import { createRedactor } from "./log-redact.ts";

test("the names that hide a value in the config hide it in a record too", () => {
  const secrets = { token: "a", passphrase: "b", signingKey: "c", secretAccessKey: "d", bearer: "e", passwd: "f", "private-key": ["g"] };
  const { fields } = createRedactor().redact("started", { ...secrets, sessionKey: "agent:main", maxTokens: "5" });
  const masked = Object.fromEntries(Object.keys(secrets).map((name) => [name, "[redacted]"]));
  expect(fields).toEqual({ ...masked, sessionKey: "agent:main", maxTokens: "5" });
});
