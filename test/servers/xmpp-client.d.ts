/** Parts of `@xmpp/client` that tests use; the package has no types. */
declare module "@xmpp/client" {
  export interface Element {
    name: string;
    attrs: Record<string, string | undefined>;
    is(name: string, ns?: string): boolean;
    getChild(name: string, ns?: string): Element | undefined;
    getChildText(name: string): string | null;
    getChildren(name: string): Element[];
    append(child: Element): void;
    remove(name: string, ns: string): void;
    toString(): string;
  }
  export interface Client {
    on(event: "stanza" | "error" | "online", handler: (what: Element & Error) => void): void;
    prependListener(event: "element", handler: (element: Element) => void): void;
    start(): Promise<unknown>;
    stop(): Promise<unknown>;
    send(element: Element): Promise<void>;
    write(text: string): Promise<void>;
    socket: { setEncoding(encoding: "utf8"): void } | null;
    reconnect: { stop(): void };
  }
  type Authenticate = (credentials: { username: string; password: string }, mechanism: string) => Promise<void>;
  export function client(options: {
    service: string;
    domain: string;
    resource?: string;
    credentials: (authenticate: Authenticate, mechanisms: string[]) => Promise<void>;
  }): Client;
  export function xml(name: string, attrs?: Record<string, string | undefined>, ...children: Array<Element | string>): Element;
}
