import { expect, test } from "vitest";
import githubEvents from "./hooks/transforms/github-events.ts";
import { opening } from "./hooks/transforms/payload-text.ts";

const repository = { full_name: "studio/maps" };
const run = (event: string, payload: unknown) =>
  githubEvents({ payload, headers: { "x-github-event": event }, url: new URL("http://127.0.0.1/hooks/github"), path: "github" });

test("a pull request that was opened becomes a task with the beginning of its text", () => {
  const pull_request = { title: "Faster tiles", html_url: "https://example.org/7", body: "x".repeat(3_000) };

  expect(run("pull_request", { action: "opened", pull_request, repository })).toMatchObject({
    name: "GitHub studio/maps",
    message: expect.stringMatching(/^A pull request was opened: Faster tiles \(https:\/\/example\.org\/7\)\.\n[^\n]+\n\nx{2000} …$/),
  });
  expect(run("pull_request", { action: "closed", pull_request, repository })).toBeNull();
});

test("a workflow that failed becomes a task, one that passed does not", () => {
  const workflow = { name: "tests", head_branch: "main", html_url: "https://example.org/8" };

  expect(run("workflow_run", { workflow_run: { ...workflow, conclusion: "failure" }, repository })).toMatchObject({
    message: expect.stringMatching(/^The workflow tests failed on main: https:\/\/example\.org\/8\./),
  });
  expect(run("workflow_run", { workflow_run: { ...workflow, conclusion: "success" }, repository })).toBeNull();
});

test.each([null, "text", [], {}, { pull_request: null, action: "opened" }])("of %j nothing is taken that is not there", (payload) => {
  expect(run("push", payload)).toBeNull();
  expect(run("constructor", payload)).toBeNull();
  expect(run("workflow_run", payload)).toBeNull();
  expect(opening("short")).toBe("short");
});
