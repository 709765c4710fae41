import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { checkWorkspacePlace } from "./workspace-place.ts";

let base: string;
const at = (path: string) => join(base, path);
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "svc-place-")));
  for (const folder of [
    "home/.svc/agents",
    "home/.svc/workspace",
    "home/.svc/workspace-made",
    "home/.ssh",
    "home/vault",
    "home/empty",
    "config",
  ]) {
    await mkdir(at(folder), { recursive: true });
  }
  for (const file of ["home/vault/a.md", "home/.svc/workspace-made/b.md", "home/file"]) await writeFile(at(file), "");
  await symlink("/etc", at("home/link"));
  await symlink(at("home/vault"), at("home/way"));
  vi.stubEnv("HOME", at("home"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(base, { recursive: true, force: true });
});

const check = (folder: string, { adopt = false } = {}) =>
  checkWorkspacePlace(folder, {
    stateDir: at("home/.svc"),
    configPath: at("config/svc.json"),
    others: [at("home/.svc/workspace")],
    adopt,
    isMadeBySvc: async (place) => place === at("home/.svc/workspace-made"),
  });

describe("never a workspace, adopted or not:", () => {
  test.each<[string, string]>([
    ["/", "holds the gateway's state"],
    ["/etc", "belongs to the system"],
    ["/etc/ssl/new", "belongs to the system"],
    ["/usr/local/notes", "belongs to the system"],
    ["/srv", "belongs to the system"],
    ["/home/somebody-else", "home folder"],
    ["home/.svc", "holds the gateway's state"],
    ["home/.svc/agents", "the gateway's own folders"],
    ["home/.svc/logs/x", "the gateway's own folders"],
    ["home", "holds the gateway's state"],
    ["config", "holds the gateway's config"],
    ["home/.ssh/x", "settings and keys"],
    ["home/link", "belongs to the system"],
    ["home/link/new", "belongs to the system"],
    ["home/vault/../../../../../../../../../etc", "belongs to the system"],
    ["home/file", "it is a file"],
  ])("%s", async (path, reason) => {
    const folder = path.startsWith("/") ? path : at(path);
    for (const adopt of [false, true]) {
      await expect(check(folder, { adopt })).rejects.toMatchObject({
        code: "agent-workspace-system",
        message: expect.stringContaining(reason),
      });
    }
  });
});

test.each<[string, string]>([
  ["home/vault", "it holds files that svc did not write (a.md)"],
  ["home/way", "it holds files that svc did not write (a.md)"],
  ["home/.svc/workspace", "overlaps the workspace of another agent"],
  ["home/.svc/workspace/inner", "overlaps the workspace of another agent"],
])("%s is a workspace only when it is adopted by name", async (path, reason) => {
  await expect(check(at(path))).rejects.toMatchObject({ code: "agent-workspace-foreign", message: expect.stringContaining(reason) });
  await check(at(path), { adopt: true });
});

test.each(["home/new/deep", "home/empty", "home/.svc/workspace-new", "home/.svc/workspace-made"])(
  "%s is a workspace at once",
  async (path) => {
    await check(at(path));
  },
);
