import { z } from "zod";

const ids = () => z.array(z.union([z.string().min(1), z.number().int()]).transform(String));
const dmPolicy = z.enum(["pairing", "allowlist", "open", "disabled"]);
const groupPolicy = z.enum(["allowlist", "open", "disabled"]);

const texts = {
  enabled: "Start the channel or account",
  dmPolicy: 'Direct messages from strangers: pair by code, refuse, accept all (needs `allowFrom: ["*"]`), refuse everybody',
  allowFrom: "Allowed senders, by stable id",
  groupPolicy: "Groups: only listed ones, all (when mentioned), none",
  groupAllowFrom: "Allowed senders in groups; unset: `allowFrom`",
  dangerouslyAllowNameMatching: "Match senders by names, which can change",
  historyLimit: "Group lines kept as context between mentions; 0 = none",
  healthMonitor: "Restart when it should be connected and is not",
  showOk: "Tell the target of heartbeats when there is nothing new",
  showAlerts: "Tell the target of heartbeats their news",
  useIndicator: "Say in reports of heartbeats how they went (`indicatorType`)",
  textChunkLimit: "Maximum length of a message in the platform's unit, never above its own limit; longer texts become several",
  chunkMode: "Where longer texts are cut: at the limit, or at blank lines first",
  tables: "How tables are shown",
  replyToMode: "Which parts of an answer quote the message",
};

const heartbeatFields = { showOk: z.boolean(), showAlerts: z.boolean(), useIndicator: z.boolean() };

const group = z.looseObject({
  requireMention: z.boolean().optional().meta({ default: true }).describe("Answer only when mentioned"),
  allowFrom: ids().optional().describe("Allowed senders in this group"),
  enabled: z.boolean().optional().meta({ default: true }).describe("Take part in the group"),
  tools: z
    .looseObject({
      allow: z.array(z.string().min(1)).optional().describe("Tools allowed here"),
      deny: z.array(z.string().min(1)).optional().describe("Tools refused here"),
    })
    .optional(),
  systemPrompt: z.string().min(1).optional().describe("Added to the prompt in this group"),
});

/** Keys that a channel and each of its accounts have in common; the account's win. */
const common = {
  enabled: z.boolean().optional().meta({ default: true }).describe(texts.enabled),
  dmPolicy: dmPolicy.optional().describe(texts.dmPolicy),
  allowFrom: ids().optional().meta({ default: [] }).describe(texts.allowFrom),
  groupPolicy: groupPolicy.optional().describe(texts.groupPolicy),
  groupAllowFrom: ids().optional().describe(texts.groupAllowFrom),
  groups: z.record(z.string().min(1), group).optional(),
  implicitMentions: z
    .looseObject({
      replyToBot: z.boolean().optional().meta({ default: true }).describe("An answer to the bot is a mention"),
      quotedBot: z.boolean().optional().meta({ default: true }).describe("A quote of the bot is a mention"),
      threadParticipation: z.boolean().optional().meta({ default: true }).describe("Every message in a thread with the bot is a mention"),
    })
    .optional(),
  dangerouslyAllowNameMatching: z.boolean().optional().meta({ default: false }).describe(texts.dangerouslyAllowNameMatching),
  historyLimit: z.number().int().min(0).max(10_000).optional().describe(texts.historyLimit),
  healthMonitor: z.looseObject({ enabled: z.boolean().optional().describe(texts.healthMonitor) }).optional(),
  heartbeat: z
    .looseObject({
      showOk: heartbeatFields.showOk.optional().describe(texts.showOk),
      showAlerts: heartbeatFields.showAlerts.optional().describe(texts.showAlerts),
      useIndicator: heartbeatFields.useIndicator.optional().describe(texts.useIndicator),
    })
    .optional(),
  textChunkLimit: z.number().int().min(1).max(1_000_000).optional().describe(texts.textChunkLimit),
  chunkMode: z.enum(["length", "newline"]).optional().describe(texts.chunkMode),
  markdown: z.looseObject({ tables: z.enum(["code", "bullets", "off"]).optional().describe(texts.tables) }).optional(),
  replyToMode: z.enum(["off", "first", "all"]).optional().describe(texts.replyToMode),
};

/** Body of `channels.<id>`: what every channel has; everything else belongs to the channel's plugin. */
const channelSchema = z
  .looseObject({
    ...common,
    defaultAccount: z.string().min(1).optional().describe("Account used when none is named"),
    accounts: z.record(z.string().min(1), z.looseObject(common)).optional(),
  })
  .meta({ reload: "channel" });

const defaults = z.strictObject({
  dmPolicy: dmPolicy.default("pairing").describe(texts.dmPolicy),
  groupPolicy: groupPolicy.default("allowlist").describe(texts.groupPolicy),
  historyLimit: z.number().int().min(0).max(10_000).default(50).describe(texts.historyLimit),
  textChunkLimit: z.number().int().min(1).max(1_000_000).default(4_000).describe(texts.textChunkLimit),
  chunkMode: z.enum(["length", "newline"]).default("length").describe(texts.chunkMode),
  markdown: z.strictObject({ tables: z.enum(["code", "bullets", "off"]).default("code").describe(texts.tables) }).prefault({}),
  replyToMode: z.enum(["off", "first", "all"]).default("first").describe(texts.replyToMode),
  healthMonitor: z.strictObject({ enabled: z.boolean().default(true).describe(texts.healthMonitor) }).prefault({}),
  heartbeat: z
    .strictObject({
      showOk: heartbeatFields.showOk.default(false).describe(texts.showOk),
      showAlerts: heartbeatFields.showAlerts.default(true).describe(texts.showAlerts),
      useIndicator: heartbeatFields.useIndicator.default(true).describe(texts.useIndicator),
    })
    .prefault({}),
});

/** `channels.*`: `defaults`, and one section for each channel. */
export const channelsSchema = z
  .object({ defaults: defaults.prefault({}) })
  .catchall(channelSchema)
  .meta({ reload: "channel" });

/** Keys of a channel's body that the plugin's own schema need not list. */
export const commonChannelKeys: readonly string[] = [...Object.keys(common), "defaultAccount", "accounts"];
