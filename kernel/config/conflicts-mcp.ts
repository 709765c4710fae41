import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Conflict } from "./conflict.ts";

/** Rules within `mcp.servers`: a server is a program or an address, and the keys of the other kind would do nothing. */
export function mcpConflicts({ mcp }: SvcConfig): Conflict[] {
  return Object.entries(mcp.servers).flatMap(([name, server]): Conflict[] => {
    const at = ["mcp", "servers", name];
    const { command, url, args, env, cwd, headers, oauth } = server;
    if ((command === undefined) === (url === undefined)) {
      const message = command === undefined ? "expected command or url, and neither is there" : "expected command or url, not both";
      return [{ path: [...at, command === undefined ? "command" : "url"], message, hint: "command starts a program, url names a server" }];
    }
    const [foreign, other] = command === undefined ? [{ args, env, cwd }, "url"] : [{ headers, oauth }, "command"];
    return Object.entries(foreign)
      .filter(([, value]) => value !== undefined && Object.keys(value).length > 0)
      .map(([key]) => ({ path: [...at, key], message: `has no effect beside ${other}`, hint: `take out ${key}, or ${other}` }));
  });
}
