import type { HookEvent } from "../../sdk/hooks.ts";
import { protocolEvents } from "../../sdk/protocol/events.ts";
import { helloNumbers } from "../../sdk/protocol/frames.ts";

/** Parts of hello-ok about the gateway itself, as the hook `hello.snapshot` sees them. */
export type HelloParts = HookEvent<"hello.snapshot">;

/** The parts of hello-ok that are the same for everybody. Each is serialised once, unless a hook put another one in its place. */
export function createHelloParts(): {
  /** @param methods names in order of registration */
  standard(methods: readonly string[]): HelloParts;
  /** JSON of features, and of the members `policy` and `limits` without a brace before them. */
  text(parts: HelloParts): { features: string; numbers: string };
} {
  const serialised = new WeakMap<object, string>();
  const json = (value: object): string => {
    const known = serialised.get(value) ?? JSON.stringify(value);
    serialised.set(value, known);
    return known;
  };
  const events = Object.freeze(Object.keys(protocolEvents));
  let features: HelloParts["features"] = { methods: [], events, capabilities: [] };
  return {
    standard(methods) {
      if (methods.length !== features.methods.length || methods.some((name, i) => name !== features.methods[i]))
        features = Object.freeze({ methods: Object.freeze([...methods]), events, capabilities: features.capabilities });
      return { features, policy: helloNumbers.policy };
    },
    text: (parts) => ({
      features: json(parts.features),
      numbers: `"policy":${json(parts.policy)},"limits":${json(helloNumbers.limits)}`,
    }),
  };
}
