import { join } from "node:path";
import { writeFileAtomic } from "../../sdk/files.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { readRegularTextSync, writeFileAtomicSync } from "../process/files-sync.ts";

/** Record of a plugin that blocked the event loop for so long that the gateway ended. */
export interface LoopBlame {
  /** Epoch ms. */
  at: number;
  /** Duration of the block. */
  ms: number;
  /** Part of the plugin that was running, such as `method weather.now`. */
  what: string;
  /** Innermost call first. */
  stack: string[];
}

/** A block that is under way, or was when its process ended. */
export interface OpenBlock extends LoopBlame {
  /** Absent when nobody could be named. */
  plugin?: string;
  pid: number;
}

interface QuarantineFile {
  plugins: Record<string, LoopBlame>;
  open?: OpenBlock;
}

const MAX_PLUGINS = 200;
/** A larger file is not one that this module wrote. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Plugins that ended a gateway by blocking its event loop; those of third parties are not loaded until somebody lifts that. */
export async function readQuarantine(stateDir: string): Promise<ReadonlyMap<string, LoopBlame>> {
  return new Map(Object.entries((await readState(stateDir)).plugins));
}

/** Takes a plugin off the list; false when it was not on it. */
export async function liftQuarantine(stateDir: string, id: string): Promise<boolean> {
  const state = await readState(stateDir);
  if (!Object.hasOwn(state.plugins, id)) return false;
  const { [id]: _, ...plugins } = state.plugins;
  await writeFileAtomic(quarantinePath(stateDir), formatState({ ...state, plugins }));
  return true;
}

/**
 * Judges a block that was under way when the process before this one ended, by a signal or otherwise: its plugin goes on the list. A slow import
 * and a block without a name put nobody there. The state lock must be held.
 * @returns that block, once
 */
export async function settleOpenBlock(stateDir: string): Promise<OpenBlock | undefined> {
  const { open, plugins } = await readState(stateDir);
  if (!open) return undefined;
  const { plugin, pid: _, ...blame } = open;
  const isGuilty = plugin !== undefined && blame.what !== "import";
  await writeFileAtomic(quarantinePath(stateDir), formatState({ plugins: isGuilty ? withBlame(plugins, plugin, blame) : plugins }));
  return open;
}

/** Notes a block that goes on, for the case that the process does not live to say more. For a thread that can wait for nothing. */
export function noteOpenBlockSync(stateDir: string, open: OpenBlock): void {
  writeStateSync(stateDir, { ...readStateSync(stateDir), open });
}

/** The block is over and the gateway goes on. */
export function forgetOpenBlockSync(stateDir: string): void {
  const { open, plugins } = readStateSync(stateDir);
  if (open) writeStateSync(stateDir, { plugins });
}

/** Puts a plugin on the list before the process ends. Without a plugin the block stays noted as open, for the next start to report. */
export function quarantineSync(stateDir: string, { plugin, pid, ...blame }: OpenBlock): void {
  const { plugins } = readStateSync(stateDir);
  writeStateSync(stateDir, plugin === undefined ? { plugins, open: { ...blame, pid } } : { plugins: withBlame(plugins, plugin, blame) });
}

/** `it blocked the event loop for 60 s (method weather.now) and ended the gateway at 2026-03-01T12:03:44.120Z`. */
export function blameText({ ms, what, at }: LoopBlame): string {
  return `it blocked the event loop for ${Math.round(ms / 1_000)} s (${what}) and ended the gateway at ${new Date(at).toISOString()}`;
}

function withBlame(plugins: Record<string, LoopBlame>, id: string, blame: LoopBlame): Record<string, LoopBlame> {
  return Object.fromEntries([...Object.entries(plugins).filter(([other]) => other !== id), [id, blame] as const].slice(-MAX_PLUGINS));
}

function quarantinePath(stateDir: string): string {
  return join(stateDir, "gateway", "quarantine.json");
}

async function readState(stateDir: string): Promise<QuarantineFile> {
  return parseState(await readRegularFile(quarantinePath(stateDir), { maxBytes: MAX_BYTES }).then(String, () => ""));
}

function readStateSync(stateDir: string): QuarantineFile {
  try {
    return parseState(readRegularTextSync(quarantinePath(stateDir), MAX_BYTES));
  } catch {
    return { plugins: {} };
  }
}

function writeStateSync(stateDir: string, state: QuarantineFile): void {
  writeFileAtomicSync(quarantinePath(stateDir), formatState(state));
}

function formatState(state: QuarantineFile): string {
  return `${JSON.stringify({ version: 1, ...state }, null, 2)}\n`;
}

/** A damaged file blames nobody: it was made to keep one plugin out, not the gateway down. */
function parseState(text: string): QuarantineFile {
  try {
    const { plugins, open } = JSON.parse(text) as { plugins?: Record<string, unknown>; open?: unknown };
    const sound = Object.entries(plugins ?? {}).flatMap(([id, value]) => (isBlame(value) ? [[id, value] as const] : []));
    return { plugins: Object.fromEntries(sound), ...(isBlame(open) ? { open: open as OpenBlock } : {}) };
  } catch {
    return { plugins: {} };
  }
}

function isBlame(value: unknown): value is LoopBlame {
  const blame = value as Partial<LoopBlame> | null | undefined;
  return typeof blame?.at === "number" && typeof blame.ms === "number" && typeof blame.what === "string" && Array.isArray(blame.stack);
}
