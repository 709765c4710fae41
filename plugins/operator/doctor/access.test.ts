import { expect, test } from "vitest";
import { type AccessEvidence, accessFindings } from "./access.ts";

const base: AccessEvidence = { stateDir: "/s", user: "ada", denied: [] };
const file = { path: "/s/state.sqlite", kind: "state", lacks: "write", mode: 0o400, isOwn: true } as const;

test("files that their owner may not use are given back by --fix", () => {
  expect(accessFindings(base)).toEqual([]);
  expect(accessFindings({ ...base, denied: [file] })).toEqual([
    {
      id: "state/perms",
      severity: "error",
      path: "/s/state.sqlite",
      message: "mode 0400: ada may not write it, so no gateway of that user can work",
      fix: "svc doctor --fix gives its owner the right",
      fixable: true,
    },
  ]);
});

test("files of another user take an administrator: one command for the whole state, or for the config elsewhere", () => {
  const foreign = { ...file, isOwn: false, lacks: "read", mode: 0o600 } as const;
  const config = { ...foreign, path: "/etc/svc.json", kind: "config" } as const;
  expect(accessFindings({ ...base, denied: [foreign, config] })).toMatchObject([
    { id: "state/perms", message: expect.stringContaining("of another user: ada may not read it"), fix: "sudo chown -R ada /s" },
    { id: "config/perms", fix: "sudo chown -R ada /etc/svc.json" },
  ]);
});
