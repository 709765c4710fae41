import { type Tool, z } from "svc/sdk";
import { replaceContained } from "svc/sdk/internal";
import type { Places } from "./place.ts";
import { orRefused, Refusal, refused, texts } from "./result.ts";

/** Larger files are not written. */
export const MAX_WRITTEN_BYTES = 1024 * 1024;

const input = z.strictObject({
  path: z.string().min(1).max(4_096).describe("Path below the workspace; missing folders are made."),
  content: z.string().describe("The whole new text, 1 MiB at most."),
  expectedHash: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/)
    .optional()
    .describe("SHA-256 that the file has now, as read, write or edit told it; another state is not replaced."),
});

/** `write`: replaces a file as a whole. */
export function writeTool(places: Places): Tool<z.output<typeof input>> {
  return {
    name: "write",
    description:
      "Writes a text file of the workspace as a whole; what was in it is gone. To change a part of a file use edit, for a note memory_append.",
    input,
    run: ({ path, content, expectedHash }, call) =>
      orRefused(async () => {
        const bytes = Buffer.byteLength(content);
        if (bytes > MAX_WRITTEN_BYTES)
          return refused(`content has ${bytes} bytes; expected at most ${MAX_WRITTEN_BYTES}: write smaller files`);
        const place = await places.toWrite(call.agentId, path);
        try {
          const hash = await replaceContained(place.root, place.parts, (before) => {
            call.signal.throwIfAborted();
            if (expectedHash !== undefined && before?.hash !== expectedHash.toLowerCase())
              throw new Refusal(conflict(place.shown, before?.hash));
            return content;
          });
          return texts([`Wrote ${place.shown}: ${bytes} bytes, sha256 ${hash}`], { path: place.shown, bytes, hash });
        } catch (error) {
          if (error instanceof Refusal) return refused(error.message);
          throw error;
        }
      }),
  };
}

function conflict(shown: string, hash: string | undefined): string {
  return hash === undefined
    ? `${shown}: does not exist, so it has no such hash`
    : `${shown}: has another state now, sha256 ${hash}; read it again`;
}
