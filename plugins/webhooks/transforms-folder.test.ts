import { expect, test } from "vitest";
import { transformsFolder } from "./open-ingress.ts";

const where = { configPath: "/etc/svc/svc.json", home: "/home/o" };
const root = "/etc/svc/hooks/transforms";

test.each([
  ["unset: the folder beside the config", undefined, root],
  ["absolute", "/etc/svc/hooks/transforms/team", "/etc/svc/hooks/transforms/team"],
  ["relative: to the config", "hooks/transforms/team", "/etc/svc/hooks/transforms/team"],
  ["in the home of who runs it", "~/t", "/home/o/t"],
])("hooks.transformsDir %s", (_name, transformsDir, dir) => {
  expect(transformsFolder(transformsDir === undefined ? {} : { transformsDir }, where)).toEqual({ dir, root });
});
