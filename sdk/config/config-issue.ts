/** Kind of problem. `not_in_release`: the key or value is specified, and this release does not serve it; `secret_ref`: a reference to a secret is not well formed, or leads nowhere; `plugin_config`: a plugin's own section. */
export type IssueCode =
  | "parse"
  | "include"
  | "unknown_key"
  | "invalid_type"
  | "invalid_value"
  | "too_small"
  | "too_big"
  | "conflict"
  | "not_in_release"
  | "secret_ref"
  | "plugin_config";

/** One thing wrong with a config file. Values of sensitive keys are never in it. */
export interface ConfigIssue {
  path: string;
  code: IssueCode;
  message: string;
  got?: unknown;
  allowed?: unknown[];
  hint?: string;
  file: string;
  line: number;
  column: number;
}

/** `svc.json:4:12  gateway.bind: expected …` and an indented hint. */
export function formatIssue(issue: ConfigIssue): string {
  const head = `${issue.file}:${issue.line}:${issue.column}  ${issue.path ? `${issue.path}: ` : ""}${issue.message}`;
  return issue.hint ? `${head}\n  hint: ${issue.hint}` : head;
}
