import fc from "fast-check";
import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { redactConfig, secretsIn } from "../../kernel/config/redact.ts";
import { redactText } from "../../kernel/config/redact-text.ts";
import { restoreRedacted } from "../../kernel/config/restore.ts";
import { sensitiveTexts } from "../../kernel/config/sensitive-texts.ts";
import { REDACTED_VALUE as R } from "../../sdk/config/fields.ts";

const parse = (text: string): unknown => JSON5.parse(text);

const config = {
  gateway: { port: 18_789, auth: { mode: "token", token: "gateway-secret", rateLimit: { maxAttempts: 3 } } },
  models: { providers: { acme: { apiKey: "acme-secret", headers: { "X-Api-Key": "header-secret", Accept: "text/plain" } } } },
  agents: { defaults: { memorySearch: { store: { fts: { tokenizer: "trigram" } } } } },
  plugins: {
    entries: {
      demo: {
        config: {
          accessToken: "plugin-secret",
          nested: [{ password: "deep-secret" }],
          secrets: { one: "grouped-secret", more: ["listed-secret"] },
          maxTokens: 5,
          tokenFile: null,
          name: "plain",
        },
      },
    },
  },
};

test("every sensitive value is replaced and everything else stays", () => {
  expect(redactConfig(config)).toEqual({
    gateway: { port: 18_789, auth: { mode: "token", token: R, rateLimit: { maxAttempts: 3 } } },
    models: { providers: { acme: { apiKey: R, headers: { "X-Api-Key": R, Accept: "text/plain" } } } },
    agents: { defaults: { memorySearch: { store: { fts: { tokenizer: "trigram" } } } } },
    plugins: {
      entries: {
        demo: {
          config: {
            accessToken: R,
            nested: [{ password: R }],
            secrets: { one: R, more: [R] },
            maxTokens: 5,
            tokenFile: null,
            name: "plain",
          },
        },
      },
    },
  });
});

test("the original is left as it was", () => {
  const before = structuredClone(config);
  redactConfig(config);
  expect(config).toEqual(before);
});

test("the secrets are listed longest first", () => {
  expect(secretsIn(config)).toEqual([
    "gateway-secret",
    "grouped-secret",
    "header-secret",
    "plugin-secret",
    "listed-secret",
    "acme-secret",
    "deep-secret",
  ]);
  expect(secretsIn(undefined)).toEqual([]);
});

describe("sensitive is", () => {
  const own = (config: unknown) => redactConfig({ plugins: { entries: { demo: { config } } } }) as typeof redactedShape;
  const redactedShape = { plugins: { entries: { demo: { config: {} as unknown } } } };
  const shown = (config: unknown) => own(config).plugins.entries.demo.config;

  test.each([
    "token",
    "botToken",
    "PASSWORD",
    "passwd",
    "clientSecret",
    "api_key",
    "apiKeys",
    "private-key",
    "credentials",
    "Authorization",
    "Cookie",
    "passphrase",
    "signingKey",
    "secretAccessKey",
    "encryption_key",
    "bearer",
    "pass",
    "SMTP_PASS",
    "smtpPass",
    "GITHUB_PAT",
    "auth",
    "proxyAuth",
  ])("the value of a key called %s", (name) => expect(shown({ [name]: "s3cret" })).toEqual({ [name]: R }));

  test.each([
    "maxTokens",
    "contextTokens",
    "totalTokens",
    "inputTokens",
    "outputTokens",
    "minTokens",
    "tokenizer",
    "keyboard",
    "secretary",
    "bypass",
    "sessionKey",
    "accessKeyId",
    "passEnv",
    "author",
    "compat",
  ])("not the value of a key called %s", (name) => expect(shown({ [name]: "plain" })).toEqual({ [name]: "plain" }));

  test("not the way of authentication, nor a section about it", () => {
    const own = { auth: "basic", smtp: { auth: { mode: "scram-sha-256", user: "me" } }, list: [{ auth: "oauth2" }] };
    expect(shown(own)).toEqual(own);
    expect(shown({ auth: { user: "me", pass: "hunter2" } })).toEqual({ auth: { user: "me", pass: R } });
  });

  test("what a program that gives secrets is started with; its ordinary words are no secrets elsewhere", () => {
    const vault = {
      source: "exec",
      command: "/x",
      args: ["--token=hvs.ABC", "--verbose"],
      env: { VAULT_TOKEN: "hvs.zzzzz", MODE: "production" },
    };
    const tree = { secrets: { providers: { vault } }, env: { vars: { A: "production --verbose", B: "hvs.zzzzz" } } };
    expect(redactConfig(tree, { repeated: true })).toEqual({
      secrets: { providers: { vault: { ...vault, args: [R, R], env: { VAULT_TOKEN: R, MODE: R } } } },
      env: { vars: { A: "production --verbose", B: R } },
    });
    expect(sensitiveTexts(tree).map(({ text }) => text)).toEqual(["hvs.zzzzz"]);
    expect(restoreRedacted(redactConfig(tree), tree)).toEqual(tree);
  });

  test("a number too, where nobody says that it is a count", () => {
    expect(shown({ password: 1234 })).toEqual({ password: R });
    expect(redactConfig({ agents: { defaults: { memorySearch: { chunking: { tokens: 400 } } } } })).toEqual({
      agents: { defaults: { memorySearch: { chunking: { tokens: 400 } } } },
    });
  });

  test("a header by its name", () => {
    expect(shown({ headers: { Accept: "text/plain", "X-Api-Key": "k", "Proxy-Authorization": "b" } })).toEqual({
      headers: { Accept: "text/plain", "X-Api-Key": R, "Proxy-Authorization": R },
    });
  });

  test.each([
    ["https://me:pa@ss@host/x", `https://${R}@host/x`],
    ["see redis://:pw@db:6379/0 and https://user@host", `see redis://${R}@db:6379/0 and https://${R}@host`],
    ["https://host/a?access_token=abc&x=1&key=k2#token=f", `https://host/a?access_token=${R}&x=1&key=${R}#token=${R}`],
    ["https://host/a?tokenizer=x&monkey=y", "https://host/a?tokenizer=x&monkey=y"],
    ["me@host", "me@host"],
  ])("part of the address %s", (url, expected) => {
    expect(shown({ url })).toEqual({ url: expected });
  });

  test("what plugins declare and what came from a reference", () => {
    const config = { channels: { irc: { accounts: { a: { nick: "n1", pass: "p1" }, b: { pass: "p2" } } } }, logging: { level: "info" } };
    expect(redactConfig(config, { patterns: ["channels.irc.accounts.*.pass"], paths: ["channels.irc.accounts.a.nick"] })).toEqual({
      channels: { irc: { accounts: { a: { nick: R, pass: R }, b: { pass: R } } } },
      logging: { level: "info" },
    });
  });

  test("of a reference only the id of a command", () => {
    const env = { source: "env", provider: "default", id: "TOKEN" };
    const exec = { source: "exec", provider: "vault", id: "prod/token" };
    expect(redactConfig({ gateway: { auth: { token: env, password: exec } } })).toEqual({
      gateway: { auth: { token: env, password: { ...exec, id: R } } },
    });
  });

  test("a secret that stands a second time under a harmless name", () => {
    const tree = { env: { vars: { A_TOKEN: "long-secret-1", B_TOKEN: "short-1", C: "it is long-secret-1!", D: "short-1" } } };
    expect(redactConfig(tree, { repeated: true })).toEqual({ env: { vars: { A_TOKEN: R, B_TOKEN: R, C: `it is ${R}!`, D: "short-1" } } });
    expect(redactConfig(tree)).toEqual({ env: { vars: { A_TOKEN: R, B_TOKEN: R, C: "it is long-secret-1!", D: "short-1" } } });
  });
});

describe("in the text of a file", () => {
  test("secrets go, comments and layout stay", () => {
    const text = '// the door\n{ gateway: { auth: { token: "open sesame" } } } // open sesame\n';
    expect(redactText(text, parse(text), {})).toBe(`// the door\n{ gateway: { auth: { token: "${R}" } } } // ${R}\n`);
  });

  test.each([
    ['// token: "old-secret",', `// token: "${R}",`],
    ["// token = old-secret", `// token = ${R}`],
    ["/* old password: 'old-secret' */", `/* old password: '${R}' */`],
    ["// the password was old-secret", `// the password was ${R}`],
    ["// Authorization: Bearer old-secret", `// Authorization: ${R}`],
    ['// "apiKey": "old-secret", port: 1', `// "apiKey": "${R}", port: 1`],
    ['/*\n * token:\n *   "old-secret",\n */', `/*\n * token:\n *   "${R}",\n */`],
    [
      '// tokens: [\n//   "old-secret", // one\n//   old-secret\n// ],\n// port: 1',
      `// tokens: [\n//   "${R}", // ${R}\n//   ${R}\n// ],\n// port: 1`,
    ],
    ['// credentials: { user: "old-secret" }', `// credentials: { user: "${R}" }`],
    ['// args: ["--password", "old-secret"]', `// args: ["${R}", "${R}"]`],
    ["// channels.irc.pin: old-secret", `// channels.irc.pin: ${R}`],
    ["// don't use token: 'old-secret' it's gone", `// don't use token: '${R}' it's gone`],
    ["// https://me:old-secret@host/x", `// https://${R}@host/x`],
    ['// pass: "old-secret"', `// pass: "${R}"`],
  ])("a value that was taken out goes: %s", (comment, expected) => {
    const at = (text: string) => `{ gateway: { auth: {\n${text}\n token: "\${SVC_GATEWAY_TOKEN}" } } }`;
    const text = redactText(at(comment), parse(at(comment)), { patterns: ["channels.*.pin"] });
    expect(text).not.toContain("old-secret");
    expect(text).toBe(at(expected).replace(/"\$\{SVC_GATEWAY_TOKEN\}"/, `"${R}"`));
  });

  test.each([
    "// maxTokens: 5, tokenizer: x",
    "// the token comes from the vault",
    `// token: "$${"{OLD_TOKEN}"}",`,
    "// token: null",
    "// port: 1, see https://host/x?y=1#z: no password here",
    "/* a key = b, keyboard: c */",
  ])("a comment that holds no secret stays: %s", (comment) => {
    const text = `{\n  ${comment}\n  gateway: { port: 1 },\n}`;
    expect(redactText(text, parse(text), {})).toBe(text);
  });

  test.each([
    ["// was old-secret-1", `// was ${R}`],
    ["// 'old secret' until May", `// ${R} until May`],
    ["// from the vault, changed each month", "// from the vault, changed each month"],
  ])("beside a secret goes what looks like another one: %s", (comment, expected) => {
    const text = (note: string, token: string) =>
      `{ gateway: { auth: { token: "${token}", ${note}\n // 2026-11-21\n mode: "token", // since 2026-11-21\n } } }`;
    const given = text(comment, "the-new-one");
    expect(redactText(given, parse(given), {})).toBe(text(expected, R));
  });

  test("a secret that begins like another leaves no rest of it", () => {
    const source = { gateway: { auth: { token: "abcdef", password: "abcdefghi" } } };
    const text = redactText(JSON.stringify(source), source, {});
    expect(text).not.toMatch(/abcdef|ghi/);
  });

  test.each([
    ["a quote", '{ gateway: { auth: { token: "se\\"cret" } } }', 'se"cret'],
    ["another notation", '{ gateway: { auth: { token: "\\x73ecret" } } }', "secret"],
    ["a line continuation", '{ gateway: { auth: { token: "sec\\\nret" } } }', "secret"],
  ])("a secret written with %s does not slip through", (_, text, token) => {
    expect(parse(text)).toEqual({ gateway: { auth: { token } } });
    const redacted = redactText(text, parse(text), {});
    expect(parse(redacted)).toEqual({ gateway: { auth: { token: R } } });
  });

  test("a key that stands twice hides nothing", () => {
    const text = '{ gateway: { auth: { token: "first-one", token: "second-one" } } }';
    expect(redactText(text, parse(text), {})).not.toMatch(/first-one|second-one/);
  });

  test("nothing is shown of a text that does not parse", () => {
    expect(redactText('{ token: "abc', undefined, {})).toBe("");
  });
});

describe("a placeholder that comes back", () => {
  const back = (next: unknown, stored: unknown) => restoreRedacted(next, stored);

  test("is the stored value of the same path", () => {
    const stored = {
      gateway: { auth: { token: "t1" } },
      models: { providers: { a: { baseUrl: "https://u:p@h/", apiKey: { source: "exec", id: "x" } } } },
    };
    expect(back(redactConfig(stored), stored)).toEqual(stored);
  });

  test("finds members of lists by id", () => {
    const stored = {
      bots: [
        { id: "a", token: "t1" },
        { id: "b", token: "t2" },
      ],
    };
    expect(back({ bots: [{ id: "b", token: R }] }, stored)).toEqual({ bots: [{ id: "b", token: "t2" }] });
  });

  test.each([
    ["at a new path", { gateway: { auth: { password: R } } }, "gateway.auth.password"],
    ["inside a text that was edited", { url: `https://${R}@other/` }, "url"],
    ["in a list without ids that changed its length", { tokens: [R] }, "tokens[0]"],
    ["as a key", { [R]: 1 }, R],
  ])("is refused %s", (_, next, path) => {
    const stored = { gateway: { auth: { token: "t1" } }, url: "https://u:p@host/", tokens: ["a", "b"] };
    expect(() => back(next, stored)).toThrow(`${path}: holds the redaction placeholder`);
  });
});

test("no secret of any tree is in any output, and every tree comes back whole", () => {
  const secret = fc.nat().map((n) => `S3CRET${n}x`);
  const plain = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.string({ maxLength: 6 }).filter((s) => !s.includes("S3CRET")),
    fc.constant(null),
  );
  const name = fc.constantFrom("token", "apiKey", "password", "client_secret", "Authorization", "secrets");
  const harmless = fc.constantFrom("a", "url", "name", "maxTokens", "list");
  const { tree } = fc.letrec<{ tree: Record<string, unknown>; value: unknown; covered: unknown }>((tie) => ({
    covered: fc.oneof(secret, fc.array(secret, { maxLength: 2 }), fc.dictionary(harmless, secret, { maxKeys: 2 })),
    value: fc.oneof(
      { depthSize: "small" },
      plain,
      secret.map((s) => `https://user:${s}@host/path?x=1`),
      secret.map((s) => `https://host/path?access_token=${s}&x=1`),
      tie("tree"),
      fc.array(tie("value"), { maxLength: 3 }),
    ),
    tree: fc
      .tuple(fc.dictionary(name, tie("covered"), { maxKeys: 2 }), fc.dictionary(harmless, tie("value"), { maxKeys: 3 }))
      .map(([a, b]) => ({ ...a, ...b })),
  }));
  const config = tree.map((own) => ({ plugins: { entries: { demo: { config: own } } }, channels: { demo: own } }));
  fc.assert(
    fc.property(config, fc.boolean(), (source, comments) => {
      const text = comments ? JSON.stringify(source, null, 2).replace(/\{\n/g, "{ // note\n") : JSON.stringify(source);
      expect(JSON.stringify(redactConfig(source))).not.toContain("S3CRET");
      expect(redactText(text, source, {})).not.toContain("S3CRET");
      expect(restoreRedacted(redactConfig(source), source)).toEqual(source);
      expect(restoreRedacted(parse(redactText(text, source, {})), source)).toEqual(source);
    }),
    { numRuns: 1_000 },
  );
});
