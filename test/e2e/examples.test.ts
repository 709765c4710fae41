import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freshHome, stopAll } from "./_cli.ts";
import { commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";

const examples = join(import.meta.dirname, "../../examples");
const questions = [...readFileSync(join(examples, "README.md"), "utf8").matchAll(/^\| (.+\?) \| `(memory\/\S+)` \|$/gm)].map((m) => ({
  question: m[1] as string,
  file: m[2] as string,
}));

let stateDir: string;
let gateway: TestGateway;

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "svc-examples-"));
  cpSync(join(examples, "workspace"), join(stateDir, "workspace"), { recursive: true });
  gateway = await createTestGateway({ stateDir });
  await eventually(async () => ((await gateway.rpc<{ files: number }>("memory.status")).files >= 20 ? true : undefined));
});

afterAll(async () => {
  await gateway.close();
  rmSync(stateDir, { recursive: true, force: true });
});

describe("a newcomer's question about the example notes", () => {
  test("is offered five times", () => {
    expect(questions).toHaveLength(5);
  });

  test.each(questions)("finds its note first: $question", async ({ question, file }) => {
    const found = await gateway.rpc<{ results: Array<{ path: string }> }>("memory.search", { query: question });

    expect(found.results[0]?.path).toBe(file);
  });

  test.each(questions)("is answered with that note as the source: $question", async ({ question, file }) => {
    const response = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({ model: "svc", messages: [{ role: "user", content: question }] }),
    });
    const body = (await response.json()) as { choices: Array<{ message: { content: string } }> };

    expect(body.choices[0]?.message.content).toMatch(new RegExp(`^Source: ${file.replaceAll(".", "\\.")}#L\\d+`, "m"));
  });
});

describe("an example config", () => {
  const files = readdirSync(examples).filter((name) => /^config-.*\.json$/.test(name));
  const readme = readFileSync(join(examples, "README.md"), "utf8");

  afterEach(stopAll);

  /** A gateway on a copy: it keeps files of its own beside its config. */
  async function running(name: string) {
    const home = await freshHome();
    cpSync(join(examples, name), join(home.stateDir, "svc.json"));
    cpSync(join(examples, "plugin-hello"), join(home.stateDir, "plugin-hello"), { recursive: true });
    const env = { SVC_GATEWAY_TOKEN: "example-token-1234" };
    await gatewayHere(home, [], env);
    return (...args: string[]) => commandJson(home, ["gateway", "call", ...args], env);
  }

  test.each(files)("%s is explained, and a gateway starts with it", async (name) => {
    expect(readme).toContain(`\`${name}\``);
    const call = await running(name);

    const { code, value } = await call("plugins.list");

    expect(code).toBe(0);
    const plugins = value.plugins as Array<{ id: string; runtime: { state: string } }>;
    expect(plugins.filter((p) => p.runtime.state === "failed")).toEqual([]);
  });

  test("with a plugin runs it with its config", async () => {
    const call = await running("config-plugins.json");

    expect((await call("hello.greet", "--params", '{"name":"Ada"}')).value).toMatchObject({ text: "Moin, Ada!" });
  });
});
