import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

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
