import { methodSpec, type PluginProtocol, z } from "svc/sdk";

/** Person to greet, for the tool and for the method. */
export const person = z.object({ name: z.string().max(80) });

export const methods = { "hello.greet": methodSpec("read", "a greeting for somebody", person) } as const;

/** Methods that this plugin serves; `svc plugins build` writes them to `svc.protocol.json`, which is read before any code of the plugin runs. */
export default { methods, results: { "hello.greet": z.object({ text: z.string() }) } } satisfies PluginProtocol;
