import { z } from "zod";

/** `commands.*`: commands in chats. */
export const commandsSchema = z
  .strictObject({
    restart: z.boolean().default(true).describe("The gateway may be restarted by command and by signal"),
    ownerAllowFrom: z.array(z.string().min(1)).default([]).describe("Senders with the owner's rights, as `channel:peer`"),
  })
  .meta({ reload: "none" });
