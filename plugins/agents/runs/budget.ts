import { agentSetting } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { Candidate } from "../models/choice.ts";

/** Assumed when nothing is known about a model. */
const DEFAULT_WINDOW_TOKENS = 128_000;
/** Kept free for the answer and what is thought before it; never more than a quarter of the window. */
const RESERVE_TOKENS = 16_384;
/** Part of the window that the conversation has in any case, however long prompt and tools are. */
const LEAST_ROOM = 1 / 8;

/** Sizes of one request, in tokens. */
export interface Budget {
  /** Longest prompt and answer together. */
  window: number;
  /** Longest prompt: the window without the reserve for the answer. */
  limit: number;
  /** Tokens of it for the messages. */
  room: number;
}

/** @param fixed tokens of system prompt and tools. @param answer longest answer that the caller asked for */
export function budgetOf(window: number, { fixed, answer = 0 }: { fixed: number; answer?: number | undefined }): Budget {
  const reserve = Math.min(Math.floor(window / 4), Math.max(RESERVE_TOKENS, answer));
  const limit = window - reserve;
  return { window, limit, room: Math.max(limit - fixed, Math.floor(window * LEAST_ROOM)) };
}

/**
 * The window of a model: what the config says, else what the provider says, which is waited for, else a usual one; and never more than an overflow has shown.
 */
export async function windowOf(kit: Pick<Kit, "config" | "catalog" | "windows">, agentId: string, candidate: Candidate): Promise<number> {
  const learnt = kit.windows.of(candidate) ?? Number.POSITIVE_INFINITY;
  const set = agentSetting(kit.config, agentId, "contextTokens");
  const listed = (await kit.catalog.models(candidate.provider)).find(({ id }) => id === candidate.model)?.contextWindow;
  // A window that an operator sets may be less than the model takes, as for a server with little memory, and not more.
  const window = Math.min(set ?? listed ?? DEFAULT_WINDOW_TOKENS, listed ?? Number.POSITIVE_INFINITY);
  return Math.min(window, learnt);
}
