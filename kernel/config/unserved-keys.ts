/**
 * One key of the specification that this release does not serve: a path, with `*` for a name or a list member, that stands for everything at and
 * below it; or one value of a key whose other values are served.
 */
export type UnservedKey = string | { path: string; value: string };

const heartbeat = (path: string) => [`agents.defaults.heartbeat.${path}`, `agents.list.*.heartbeat.${path}`];

/**
 * Every key of the specification that nothing in this release reads, by the part that will read it. Whoever builds such a part deletes its
 * lines here; `test/meta/every-key-has-a-reader.test.ts` then asks for the code that reads the key.
 */
export const unservedKeys: Readonly<Record<string, readonly UnservedKey[]>> = {
  gateway: ["gateway.controlUi.root", "meta"],
  agents: ["agents.list.*.agentDir", ...heartbeat("directPolicy"), { path: "session.scope", value: "global" }],
  models: [{ path: "models.mode", value: "replace" }],
};
