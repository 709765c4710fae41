import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { aroundMessages, configured, freshHome, token } from "./_cli.ts";
import type { Home, Running } from "./_process.ts";

export const hookToken = "hooks-token-of-the-tests-5b1d";

/** A home whose agent answers through `model`, with webhooks on. */
export async function hooksHome(model: FakeOpenAi, options: { model?: string; hooks?: object; gateway?: object } = {}): Promise<Home> {
  const models = ["ok", "unhurried", "401-once", "tool-then-401"].map((id) => ({ id }));
  const home = await freshHome();
  // Its gateways are killed again and again, and what was accepted must run all the same.
  home.env.SVC_SAFE_MODE = "off";
  return configured(home, {
    gateway: { mode: "local", auth: { token }, ...options.gateway },
    hooks: { enabled: true, token: hookToken, ...options.hooks },
    models: { providers: { lab: { baseUrl: model.url, apiKey: model.apiKey, models } } },
    agents: { defaults: { model: `lab/${options.model ?? "ok"}`, skipBootstrap: true } },
    plugins: aroundMessages("webhooks", "model-openai-compatible"),
  });
}

export const startModel = () => startFakeOpenAi();

/** How often the model was asked each message that stands in a frame; a text is found by a mark such as `mark:s1-3:`. */
export function markCounts(model: FakeOpenAi): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { body } of model.requests) {
    const messages = (body as { messages?: Array<{ role: string; content: unknown }> } | undefined)?.messages ?? [];
    const last = messages.findLast((m) => m.role === "user");
    const mark = /mark:([\w-]+):/.exec(JSON.stringify(last?.content ?? ""))?.[1];
    if (mark !== undefined) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return counts;
}

/** An answer of the door; `unknown` when the connection ended before it. */
export type Posted = { status: number; body: Record<string, unknown>; headers: Headers } | "unknown";

export async function postHook(
  url: string,
  { path = "agent", body, key, signal }: { path?: string; body: object; key?: string; signal?: AbortSignal },
): Promise<Posted> {
  const headers = { authorization: `Bearer ${hookToken}`, "content-type": "application/json", ...(key ? { "idempotency-key": key } : {}) };
  try {
    const answer = await fetch(`${url}/hooks/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? {} : JSON.parse(text), headers: answer.headers };
  } catch {
    return "unknown";
  }
}

export interface StoredDelivery {
  uid: string;
  key: string | null;
  dir: string;
  state: string;
  attempt: number;
  lease: string | null;
  steps: Record<string, unknown>;
  hasPayload: boolean;
}

export interface StoredState {
  integrity: string;
  deliveries: StoredDelivery[];
  /** Texts of system events that nobody has read. */
  events: string[];
  /** Lines of those that were read in the main session. */
  lines: string[];
  /** Texts of the agent in the main session. */
  notes: string[];
  /** Ids of all messages of the main session. */
  messageIds: string[];
  runs: Array<{ runId: string; state: string; bootId: string }>;
  /** User messages by run. */
  userMessages: Map<string, number>;
}

/** Reads the database while the gateway uses it. */
export function readState(home: Home): StoredState {
  const db = new Database(join(home.stateDir, "state.sqlite"), { readonly: true });
  try {
    const rows = <T>(sql: string) => db.prepare(sql).all() as T[];
    const deliveries = rows<Record<string, string | number | null>>(
      "SELECT *, payload IS NOT NULL AS has_payload FROM deliveries ORDER BY id",
    ).map(
      (row): StoredDelivery => ({
        uid: String(row.uid),
        key: row.idem_key === null ? null : String(row.idem_key),
        dir: String(row.dir),
        state: String(row.state),
        attempt: Number(row.attempt),
        lease: row.lease_boot === null ? null : String(row.lease_boot),
        steps: JSON.parse(String(row.steps)),
        hasPayload: row.has_payload === 1,
      }),
    );
    const main = db.prepare("SELECT session_id FROM sessions WHERE key = 'agent:main:main'").pluck().get() as string | undefined;
    const inMain = (role: string) =>
      (
        db
          .prepare("SELECT body FROM messages WHERE session_id = ? AND role = ? ORDER BY seq")
          .pluck()
          .all(main ?? "", role) as string[]
      ).map(textOf);
    return {
      integrity: String(db.pragma("integrity_check", { simple: true })),
      deliveries,
      events: rows<{ body: string }>("SELECT body FROM system_events ORDER BY row").map(
        ({ body }) => (JSON.parse(body) as { text: string }).text,
      ),
      lines: inMain("user").flatMap((text) =>
        text
          .split("\n")
          .filter((line) => line.startsWith("System: "))
          .map((line) => line.slice(8)),
      ),
      notes: inMain("assistant"),
      messageIds: db
        .prepare("SELECT id FROM messages WHERE session_id = ?")
        .pluck()
        .all(main ?? "") as string[],
      runs: rows<{ run_id: string; state: string; boot_id: string }>("SELECT run_id, state, boot_id FROM runs").map((r) => ({
        runId: r.run_id,
        state: r.state,
        bootId: r.boot_id,
      })),
      userMessages: new Map(
        rows<{ run_id: string; n: number }>(
          "SELECT run_id, count(*) AS n FROM messages WHERE role = 'user' AND run_id IS NOT NULL GROUP BY run_id",
        ).map(({ run_id, n }) => [run_id, n]),
      ),
    };
  } finally {
    db.close();
  }
}

function textOf(body: string): string {
  const { content } = JSON.parse(body) as { content: Array<{ type: string; text?: string }> };
  return content.map((block) => block.text ?? "").join("");
}

/** Documents that do not parse. What a write that was cut off leaves beside them goes by itself within the hour. */
export async function brokenFiles(home: Home): Promise<string[]> {
  const names = await readdir(home.stateDir, { recursive: true });
  const broken: string[] = [];
  for (const name of names) {
    if (!name.endsWith(".json")) continue;
    try {
      JSON.parse(await readFile(join(home.stateDir, name), "utf8"));
    } catch {
      broken.push(name);
    }
  }
  return broken;
}

/** The process has ended by itself. */
export async function killed(gateway: Running): Promise<NodeJS.Signals | null> {
  if (gateway.child.exitCode === null && gateway.child.signalCode === null) await once(gateway.child, "close");
  return gateway.child.signalCode;
}
