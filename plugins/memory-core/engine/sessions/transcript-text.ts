import { createHash } from "node:crypto";
import type { TranscriptMessage } from "../../worker-protocol.ts";
import { redactSecrets } from "./redact.ts";

/** A transcript as the index takes it: one line a message. */
export interface TranscriptText {
  text: string;
  /** Number of the message in its session for each line. */
  seqs: number[];
  /** sha256 over text, numbers and times, hex. */
  hash: string;
  /** Time of the last message, epoch ms; 0 without one. */
  lastAt: number;
}

/** Gathers a transcript page after page. */
export interface TranscriptBuilder {
  add(message: TranscriptMessage): void;
  build(): TranscriptText;
}

const speaker = { user: "User", assistant: "Assistant" } as const;

/** Messages without words leave no line; secrets are masked before anything else sees the text. */
export function createTranscriptBuilder(): TranscriptBuilder {
  const lines: string[] = [];
  const seqs: number[] = [];
  const times: number[] = [];
  return {
    add({ seq, ts, ...message }) {
      const line = transcriptLine(message);
      if (line === undefined) return;
      lines.push(line);
      seqs.push(seq);
      times.push(ts);
    },
    build() {
      const text = lines.join("\n");
      const hash = createHash("sha256")
        .update(JSON.stringify([text, seqs, times]))
        .digest("hex");
      return { text, seqs, hash, lastAt: times.at(-1) ?? 0 };
    },
  };
}

/** One message as one line, secrets masked; undefined for one without words. */
export function transcriptLine({ role, text }: Pick<TranscriptMessage, "role" | "text">): string | undefined {
  const words = collapse(redactSecrets(text));
  return words === "" ? undefined : `${speaker[role]}: ${words}`;
}

/** Line ends of every kind are blanks, too: one message is one line. */
function collapse(text: string): string {
  return text.replace(/[\s\u0085]+/g, " ").trim();
}
