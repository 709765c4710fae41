import type { HookEvent } from "svc/sdk";
import type { Skills } from "./skills.ts";

type Event = HookEvent<"prompt.build">;

/** Lists an agent's skills in its prompt, for runs that can read them. */
export async function withSkills(event: Event, skills: Pick<Skills, "of">): Promise<Event | undefined> {
  if (!event.tools.includes("read")) return undefined;
  const found = await skills.of(event.agentId);
  if (found.length === 0) return undefined;
  const lines = found.map(({ name, description }) => `- ${name} (skills/${name}/SKILL.md): ${description}`);
  const text = `# Skills\n\nInstructions for kinds of tasks. When one fits the task, read its file with the tool read first, and follow it as far as your tools allow.\n\n${lines.join("\n")}`;
  return { ...event, system: [...event.system, text] };
}
