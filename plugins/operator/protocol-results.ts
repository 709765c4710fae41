import { z } from "svc/sdk";

const count = z.number().int().min(0);

/** Answers about logs. */
export const logsResults = {
  "logs.tail": z.object({
    file: z.string(),
    cursor: count.describe("where the next call continues"),
    size: count.describe("bytes of the file"),
    lines: z.array(z.string()).describe("raw JSON lines, redacted"),
    truncated: z.boolean().describe("there is more: older lines without a cursor, newer ones with it"),
    reset: z.boolean().describe("the cursor was of an older file"),
  }),
};
