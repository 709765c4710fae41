import type { HttpCall, HttpReply, SvcConfig } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { createModels } from "./models.ts";

function config(...ids: string[]): SvcConfig {
  return parseSharedConfig({ agents: { list: ids.map((id) => ({ id })) } });
}

function get(rest: string, path = `/v1/models/${rest}`): HttpReply {
  const current = config("main", "work");
  return createModels(() => current).get({ rest, url: new URL(path, "http://127.0.0.1") } as HttpCall);
}

describe("the list of models", () => {
  test("is svc, svc/default and the agents in config order, each once", () => {
    const current = config("work", "default", "main");
    const body = JSON.parse(createModels(() => current).list().body as string);

    expect(body.object).toBe("list");
    expect(body.data.map((m: { id: string }) => m.id)).toEqual(["svc", "svc/default", "svc/work", "svc/main"]);
    expect(body.data[0]).toEqual({ id: "svc", object: "model", created: 0, owned_by: "svc", permission: [] });
  });

  test("follows a changed config", () => {
    let current = config("main");
    const models = createModels(() => current);
    models.list();

    current = config("main", "work");
    expect(models.list().body).toContain("svc/work");
  });
});

describe("one model", () => {
  test("is found by its exact id", () => {
    expect(JSON.parse(get("svc/work").body as string)).toMatchObject({ id: "svc/work" });
  });

  test.each([
    ["", "Missing model id."],
    ["svc/nobody", "Model 'svc/nobody' not found."],
    ["SVC", "Model 'SVC' not found."],
  ])("%j is refused", (id, message) => {
    expect(() => get(id)).toThrow(message);
  });

  test("a broken percent-encoding is told apart from an unknown id", () => {
    expect(() => get("%zz", "/v1/models/%zz")).toThrow("Invalid model id encoding.");
  });
});
