import { describe, expect, test } from "vitest";
import { rootSchema } from "../../kernel/config/root-schema.ts";
import { secretErrors } from "../../kernel/secrets/errors.ts";
import { embeddingContext } from "../testing/embedding-context.ts";
import type { EmbeddingContext } from "../types/embedding.ts";
import { type RemoteVendor, resolveRemote } from "./remote.ts";

const vendor: RemoteVendor = {
  adapter: "acme",
  vendor: "acme",
  baseUrl: "https://api.acme.example/v1",
  keyEnv: ["ACME_API_KEY", "ACME_OTHER_KEY"],
};

interface Given {
  /** `models.providers.acme`; its key and headers are what `ctx.secret` gives. */
  entry?: { baseUrl?: string; apiKey?: string; auth?: "none"; headers?: Record<string, string> };
  env?: Record<string, string>;
  remote?: EmbeddingContext["remote"];
  auto?: boolean;
  vendor?: Partial<RemoteVendor>;
}

function resolved({ entry, env = {}, remote, auto = false, vendor: own }: Given) {
  const source: Parameters<typeof resolveRemote>[0] = {
    env,
    secret(path) {
      const name = /\.headers\["(.+)"\]$/.exec(path)?.[1];
      if (name !== undefined) return entry?.headers?.[name];
      return path.endsWith(".apiKey") ? entry?.apiKey : undefined;
    },
  };
  const masked = Object.fromEntries(Object.keys(entry?.headers ?? {}).map((name) => [name, "__SVC_REDACTED__"]));
  const config = rootSchema.parse({
    models: { providers: entry ? { acme: { ...entry, apiKey: "__SVC_REDACTED__", headers: masked } } : {} },
  });
  return resolveRemote(source, embeddingContext({ config, auto, ...(remote ? { remote } : {}) }), { ...vendor, ...own });
}

function authOf(given: Given): string | undefined {
  return resolved(given).headers.authorization;
}

describe("the key", () => {
  const entry = { apiKey: "key-of-config" };
  const env = { ACME_API_KEY: "key-of-env", ACME_OTHER_KEY: "other-key", MY_KEY: "key-of-mine" };

  test("is that of remote, then of the vendor's entry, then of the environment in the order of its names", () => {
    expect(authOf({ entry, env, remote: { apiKey: "key-of-remote" } })).toBe("Bearer key-of-remote");
    expect(authOf({ entry, env })).toBe("Bearer key-of-config");
    expect(authOf({ env })).toBe("Bearer key-of-env");
    expect(authOf({ env: { ACME_OTHER_KEY: "other-key" } })).toBe("Bearer other-key");
  });

  test("of remote may be the name of a variable", () => {
    expect(authOf({ env, remote: { apiKey: "MY_KEY" } })).toBe("Bearer key-of-mine");
    expect(authOf({ env, remote: { apiKey: "MY_OTHER_KEY" } })).toBe("Bearer MY_OTHER_KEY");
    expect(() => authOf({ remote: { apiKey: "ACME_API_KEY" } })).toThrow(expect.objectContaining({ fault: "no-credentials" }));
  });

  test("counts as unset when it is blank", () => {
    expect(authOf({ entry: { apiKey: " " }, env, remote: { apiKey: "" } })).toBe("Bearer key-of-env");
  });

  test("that is missing is no-credentials, with the places where to put it", () => {
    expect(() => resolved({})).toThrow(
      expect.objectContaining({
        fault: "no-credentials",
        message:
          'embedding adapter "acme": no API key; set ACME_API_KEY or ACME_OTHER_KEY, models.providers.acme.apiKey, memorySearch.remote.apiKey',
      }),
    );
  });

  test("that is a secret without a value is not replaced by another one", () => {
    const source: Parameters<typeof resolveRemote>[0] = {
      env,
      secret: (path) => {
        throw secretErrors.secretUnavailable({ path, reason: "no such file" });
      },
    };
    const config = rootSchema.parse({ models: { providers: { acme: { headers: { a: "b" } } } } });
    expect(() => resolveRemote(source, embeddingContext({ config }), vendor)).toThrow(
      expect.objectContaining({ fault: "auth", message: expect.stringContaining("no such file") }),
    );
  });

  test("may be left out where the server wants none", () => {
    expect(authOf({ vendor: { isKeyOptional: true } })).toBeUndefined();
    expect(authOf({ entry: { auth: "none" }, env })).toBeUndefined();
  });

  test("may be a header of the operator's", () => {
    expect(authOf({ remote: { headers: { Authorization: "Basic abc" } } })).toBe("Basic abc");
    expect(resolved({ env, vendor: { authHeaders: (key) => ({ "X-Acme-Key": key }) } }).headers).toEqual({ "x-acme-key": "key-of-env" });
  });
});

describe("a key of the vendor", () => {
  const env = { ACME_API_KEY: "key-of-env" };
  const elsewhere = { baseUrl: "https://proxy.example/v1" };

  test("does not go to a server of another origin", () => {
    expect(authOf({ env, remote: elsewhere })).toBeUndefined();
    expect(authOf({ entry: { apiKey: "key-of-config" }, env, remote: elsewhere })).toBeUndefined();
    expect(authOf({ entry: { apiKey: "key-of-config", baseUrl: "https://proxy.example:8443/v1" }, remote: elsewhere })).toBeUndefined();
    expect(authOf({ env, remote: { baseUrl: "http://api.acme.example/v1" } })).toBeUndefined();
  });

  test("goes to the origin of its entry, whatever the path", () => {
    expect(authOf({ entry: { apiKey: "key-of-config", baseUrl: "https://proxy.example/other" }, remote: elsewhere })).toBe(
      "Bearer key-of-config",
    );
    expect(authOf({ entry: { apiKey: "key-of-config", baseUrl: "https://proxy.example/v1" } })).toBe("Bearer key-of-config");
    expect(authOf({ env, remote: { baseUrl: "https://api.acme.example/v2" } })).toBe("Bearer key-of-env");
  });

  test("in the environment goes to the address of the vendor's own entry too: the operator wrote it for this vendor", () => {
    expect(authOf({ entry: elsewhere, env })).toBe("Bearer key-of-env");
    expect(authOf({ entry: elsewhere, env, auto: true })).toBe("Bearer key-of-env");
    expect(authOf({ entry: elsewhere, env, remote: { baseUrl: "https://proxy.example/v2" } })).toBe("Bearer key-of-env");
    expect(authOf({ entry: { ...elsewhere, auth: "none" }, env })).toBeUndefined();
  });

  test("in the environment goes to no other server, whatever remote names", () => {
    expect(authOf({ entry: elsewhere, env, remote: { baseUrl: "https://third.example/v1" } })).toBeUndefined();
    expect(authOf({ entry: { ...elsewhere, apiKey: "key-of-config" }, env, remote: { baseUrl: vendor.baseUrl } })).toBe(
      "Bearer key-of-env",
    );
    expect(() => authOf({ entry: elsewhere, auto: true })).toThrow(
      expect.objectContaining({
        fault: "no-credentials",
        message:
          'embedding adapter "acme": no API key; set ACME_API_KEY or ACME_OTHER_KEY, models.providers.acme.apiKey, memorySearch.remote.apiKey',
      }),
    );
  });

  test("stays behind with the credentials among the entry's headers", () => {
    const headers = { "X-Team": "a", "X-Api-Key": "k", Cookie: "c", "x-auth-token": "t", "x-plain": "Bearer z" };

    expect(resolved({ entry: { headers }, remote: elsewhere }).headers).toEqual({ "x-team": "a" });
    expect(resolved({ entry: { headers }, env }).headers).toMatchObject({ "x-api-key": "k", cookie: "c", "x-auth-token": "t" });
  });
});

describe("without a name to the adapter", () => {
  const remote = { baseUrl: "https://proxy.example/v1", apiKey: "key-of-remote", headers: { a: "b" } };

  test("what is said of a remote server is for the adapter of that protocol only", () => {
    expect(() => resolved({ auto: true, remote })).toThrow(expect.objectContaining({ fault: "no-credentials" }));
    expect(resolved({ auto: true, remote, vendor: { takesUnnamedRemote: true } })).toMatchObject({
      baseUrl: "https://proxy.example/v1",
      headers: { a: "b", authorization: "Bearer key-of-remote" },
    });
  });

  test("a server without a key is taken only if it was named for embeddings", () => {
    const keyless = { baseUrl: "https://proxy.example/v1" };
    expect(resolved({ auto: true, remote: keyless, vendor: { takesUnnamedRemote: true } }).headers).toEqual({});
    for (const entry of [keyless, { ...keyless, auth: "none" as const }])
      expect(() => resolved({ auto: true, entry })).toThrow(expect.objectContaining({ fault: "no-credentials" }));
  });
});

test.each([
  ["https://proxy.example/v1", "https://proxy.example/v1"],
  ["https://proxy.example/v1/", "https://proxy.example/v1"],
  ["https://proxy.example///", "https://proxy.example"],
])("the address %s is %s", (baseUrl, expected) => {
  expect(resolved({ remote: { baseUrl } })).toMatchObject({ baseUrl: expected, identity: { baseUrl: expected } });
});

test("an address that is none, or holds credentials, is refused without being repeated", () => {
  for (const baseUrl of ["nonsense", "https://user:hunter2@proxy.example"]) {
    expect(() => resolved({ remote: { baseUrl } })).toThrow(
      expect.objectContaining({ fault: "model", message: expect.not.stringContaining("hunter2") }),
    );
  }
});

test("headers are joined whatever their case; remote's win over the entry's", () => {
  const given = {
    entry: { apiKey: "key-of-config", headers: { "X-A": "entry", "x-b": "entry", authorization: "Bearer of-entry" } },
    remote: { headers: { "x-a": "remote", "X-C": "remote" } },
  };
  expect(resolved(given).headers).toEqual({ "x-a": "remote", "x-b": "entry", "x-c": "remote", authorization: "Bearer of-entry" });
  expect(resolved({ ...given, remote: { apiKey: "key-of-remote" } }).headers.authorization).toBe("Bearer key-of-remote");
});

test("the identity holds the headers without credentials, and every credential is a secret", () => {
  const endpoint = resolved({
    entry: { apiKey: "key-of-config", headers: { "x-team": "a" } },
    remote: { headers: { "X-Api-Key": "header-key", "x-tier": "1" } },
  });
  expect(endpoint.identity.headers).toEqual({ "x-team": "a", "x-tier": "1" });
  expect(endpoint.secrets).toEqual(expect.arrayContaining(["key-of-config", "header-key"]));
});
