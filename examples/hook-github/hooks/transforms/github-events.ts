import type { HookTransformContext, HookTransformResult } from "svc/sdk";
import { opening, textAt } from "./payload-text.ts";

/** Tasks for an agent by kind of event; null: the event needs no work. */
const tasks: Record<string, (payload: unknown) => string | null> = {
  pull_request: (payload) =>
    textAt(payload, "action") === "opened"
      ? `A pull request was opened: ${textAt(payload, "pull_request.title")} (${textAt(payload, "pull_request.html_url")}).
Say in three sentences what it changes, and what a reviewer should look at first.

${opening(textAt(payload, "pull_request.body"))}`
      : null,
  workflow_run: (payload) =>
    textAt(payload, "workflow_run.conclusion") === "failure"
      ? `The workflow ${textAt(payload, "workflow_run.name")} failed on ${textAt(payload, "workflow_run.head_branch")}: ${textAt(payload, "workflow_run.html_url")}.
Look up what was changed there last, and say what to check first.`
      : null,
};

/**
 * Turns the events that somebody should look at into tasks; the sender gets 204 for all others.
 * @returns the name and the message only: session, agent and channel are the mapping's
 */
export default function githubEvents({ payload, headers }: HookTransformContext): HookTransformResult {
  const event = headers["x-github-event"] ?? "";
  const message = Object.hasOwn(tasks, event) ? tasks[event]?.(payload) : null;
  return message ? { message, name: `GitHub ${textAt(payload, "repository.full_name")}` } : null;
}
