/** Kinds of plugins that `svc plugins create` can start. */
export const kinds = ["plain", "tool", "channel", "embedding", "model", "hook-preset"] as const;
export type Kind = (typeof kinds)[number];

export interface KindSpec {
  /** Folder below the package that its own files come from. */
  from: string;
  /** Files whose names end in `.tmpl` are templates; an example is copied as it is, with its names replaced. */
  source: "template" | "example";
  purpose: string;
  permissions: string;
}

const template = (kind: Kind, purpose: string): KindSpec => ({
  from: `plugins/authoring/templates/${kind}`,
  source: "template",
  purpose,
  permissions: "none",
});

/** Channels and embedding adapters start from the examples, which keep the whole contract of their kind. */
export const kindSpecs: Readonly<Record<Kind, KindSpec>> = {
  plain: template("plain", "Says when the gateway is ready."),
  tool: template("tool", "A tool for agents that repeats its input."),
  channel: {
    from: "examples/plugin-channel",
    source: "example",
    purpose: "A channel over a TCP link.",
    permissions: "`net`, for the link to the server",
  },
  embedding: {
    from: "examples/plugin-embedding",
    source: "example",
    purpose: "An embedding adapter without a model.",
    permissions: "none",
  },
  model: template("model", "A model provider that repeats the question."),
  "hook-preset": template("hook-preset", "A webhook preset that turns notices into tasks."),
};

export function isKind(value: unknown): value is Kind {
  return kinds.includes(value as Kind);
}

/** Names that follow from a plugin's id. */
export interface Names {
  id: string;
  /** `channel-acme-chat` → `Acme chat`. */
  name: string;
  /** Id of what it contributes: `channel-acme` → `acme`. */
  kindId: string;
  /** Name of its tool: letters, digits and `_`. */
  tool: string;
}

const prefixes = /^(?:channel|embed|embedding|model|memory|tools?|hook-preset)-(?=[a-z])/;

export function namesOf(id: string): Names {
  const kindId = id.replace(prefixes, "");
  const words = kindId.replaceAll("-", " ");
  return { id, kindId, name: words.charAt(0).toUpperCase() + words.slice(1), tool: kindId.replaceAll("-", "_") };
}
