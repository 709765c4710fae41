import { randomUUID } from "node:crypto";
import type { Agents } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { present } from "./find.ts";

/** Shows a line to the clients that follow a session; nothing is stored. @throws as `Agents.notice` */
export async function showNotice(kit: Kit, { text, ...target }: Parameters<Agents["notice"]>[0]): Promise<void> {
  const session = await present(kit, kit.directory.resolve(target).sessionKey);
  if (session) kit.events.note(session, { id: `notice-${randomUUID()}`, content: [{ type: "text", text }], ts: kit.ctx.clock.now() });
}
