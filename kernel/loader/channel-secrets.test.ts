import { describe, expect, test } from "vitest";
import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Channel } from "../../sdk/types/channel.ts";
import { withOwnSecrets } from "./channel-secrets.ts";

const section = { token: "***", port: 7, accounts: { work: { token: "***" }, "a.b": { token: "***" }, open: {} } };
const config = { channels: { lines: section, other: { token: "***" } } } as unknown as SvcConfig;
const patterns = ["channels.lines.token", "channels.lines.accounts.*.token", "models.x"];

/** A channel that shows what it was given; it keeps a private field, as classes do. */
class Shown {
  readonly id = "lines";
  readonly meta = { label: "Lines" };
  readonly capabilities = { chatTypes: ["direct" as const], multiAccount: true };
  readonly target = { normalize: (raw: string) => raw, format: (to: string) => to };
  readonly text = { limit: 1, unit: "chars" as const, render: ({ text }: { text: string }) => ({ text }) };
  readonly #sent: string[] = [];
  given: unknown;
  readonly config = {
    list: () => ["default"],
    inspect: () => ({ enabled: true, configured: true, missing: [] }),
    resolve: (tree: SvcConfig, accountId: string) => {
      this.given = tree.channels.lines;
      if ((tree.channels.lines as { token?: string } | undefined)?.token === undefined) throw new Error("expected a token");
      return { accountId, enabled: true };
    },
  };
  async start() {
    this.#sent.length = 0;
  }
  async send({ uid }: { uid: string }) {
    this.#sent.push(uid);
    return { messageId: String(this.#sent.length), at: 0 };
  }
}

const values: Record<string, string> = { "channels.lines.token": "base", "channels.lines.accounts.work.token": "of work" };
const read = (path: string) => values[path];

describe("a channel of a plugin that lists secrets", () => {
  test("resolves an account with the values of its own paths, and of no other account", () => {
    const channel = new Shown();
    withOwnSecrets(channel as unknown as Channel, { patterns, read }).config.resolve(config, "work");
    expect(channel.given).toEqual({ token: "base", port: 7, accounts: { ...section.accounts, work: { token: "of work" } } });
    expect(config.channels.lines).toEqual(section);
  });

  test("finds names with dots in them", () => {
    const paths: string[] = [];
    const shown = withOwnSecrets(new Shown() as unknown as Channel, { patterns, read: (path) => (paths.push(path), "v") });
    shown.config.resolve(config, "a.b");
    expect(paths).toEqual(["channels.lines.token", 'channels.lines.accounts.["a.b"].token']);
  });

  test("finds secrets in lists, and leaves the lists lists", () => {
    const channel = new Shown();
    const rooms = [{ name: "#a", key: "***" }, { name: "#b" }, { name: "#c", key: "***" }];
    const tree = { channels: { lines: { token: "***", rooms } } } as unknown as SvcConfig;
    const listed: Record<string, string> = { "channels.lines.token": "base", "channels.lines.rooms.0.key": "of a" };
    withOwnSecrets(channel as unknown as Channel, {
      patterns: ["channels.lines.token", "channels.lines.rooms.*.key"],
      read: (path) => listed[path],
    }).config.resolve(tree, "default");
    expect(channel.given).toEqual({ token: "base", rooms: [{ name: "#a", key: "of a" }, { name: "#b" }, { name: "#c" }] });
    expect(rooms[2]).toEqual({ name: "#c", key: "***" });
  });

  test("says why a secret has no value when the account cannot do without it", () => {
    const lost = new Error("channels.lines.token: LINES_TOKEN is not set");
    const shown = withOwnSecrets(new Shown() as unknown as Channel, {
      patterns,
      read: () => {
        throw lost;
      },
    });
    expect(() => shown.config.resolve(config, "default")).toThrow(lost);
  });

  test("keeps its methods, and is left alone without secrets", async () => {
    const channel = new Shown() as unknown as Channel;
    const run = {} as never;
    expect(await withOwnSecrets(channel, { patterns, read }).send({ uid: "u", to: "x" }, run)).toEqual({ messageId: "1", at: 0 });
    expect(withOwnSecrets(channel, { patterns: ["models.x"], read })).toBe(channel);
  });
});
