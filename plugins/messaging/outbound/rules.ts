import type { Channel, SvcConfig } from "svc/sdk";
import type { SplitRules } from "./split.ts";
import type { TableMode } from "./table.ts";

/** From this limit on a platform counts as one without a limit: a mail is not split where a chat would be. */
const NO_LIMIT = 100_000;

/** Form of the messages that go out through one account. */
export interface OutboundRules extends Pick<SplitRules, "limit" | "mode"> {
  tables: TableMode;
  replyToMode: "off" | "first" | "all";
}

/** The account's own keys, else those of its channel, else `channels.defaults`; never more than the platform takes. Pure. */
export function outboundRulesOf(
  { channels }: SvcConfig,
  channel: Pick<Channel, "id" | "text">,
  accountId: string | undefined,
): OutboundRules {
  const section = channels[channel.id] ?? {};
  const own = section.accounts?.[accountId ?? ""] ?? {};
  const { defaults } = channels;
  const configured = own.textChunkLimit ?? section.textChunkLimit;
  const { limit } = channel.text;
  const most = limit < NO_LIMIT ? Math.min(limit, configured ?? defaults.textChunkLimit) : configured;
  return {
    limit: most,
    mode: own.chunkMode ?? section.chunkMode ?? defaults.chunkMode,
    replyToMode: own.replyToMode ?? section.replyToMode ?? defaults.replyToMode,
    tables: own.markdown?.tables ?? section.markdown?.tables ?? defaults.markdown.tables,
  };
}
