type Enter = <T>(what: string, run: () => T) => T;
type Method = (...args: unknown[]) => unknown;
type Members = Record<PropertyKey, unknown>;

/**
 * The same object with every call of it announced: functions, and those of plain objects inside it, run through `enter` with their name.
 * Everything else is read through unchanged. Made once per object, so that readers may keep facts by its identity.
 *
 * @param successor what answers calls in its place, once it is gone
 */
export function createServiceProxy<T>(value: T, enter: Enter, successor: () => unknown = () => undefined): T {
  if (typeof value !== "object" || value === null) return value;
  const source = value as unknown as Members;
  const wrapped = new Map<PropertyKey, { of: unknown; as: unknown }>();
  const wrap = (key: PropertyKey): unknown => {
    const member = source[key];
    const known = wrapped.get(key);
    if (known && known.of === member) return known.as;
    const as = wrapMember(source, key, { enter, successor });
    wrapped.set(key, { of: member, as });
    return as;
  };
  return proxyOf(() => source, wrap) as T;
}

function wrapMember(source: Members, key: PropertyKey, { enter, successor }: { enter: Enter; successor: () => unknown }): unknown {
  const member = source[key];
  if (typeof member === "function" && Object.hasOwn(source, key) && isClass(member)) return member;
  if (typeof member === "function") {
    return (...args: unknown[]) => {
      const next = (successor() as Members | undefined)?.[key];
      return typeof next === "function" ? (next as Method)(...args) : enter(String(key), () => (member as Method).apply(source, args));
    };
  }
  return holdsFunctions(member) ? createServiceProxy(member, enter, () => (successor() as Members | undefined)?.[key]) : member;
}

/**
 * A handle that finds its object anew at each use, so that whoever keeps it meets the present provider. While there is none every use throws
 * what `find` throws; with `load` a call waits for it first instead.
 *
 * @param find the present object. @throws when there is none
 * @param load brings a provider that is loaded on first use; undefined when there is nothing to wait for
 */
export function createServiceHandle<T>(find: () => T, load: () => Promise<unknown> | undefined): T {
  const callers = new Map<PropertyKey, Method>();
  const members = () => find() as Members;
  const call = (key: PropertyKey): Method => {
    const known = callers.get(key);
    if (known) return known;
    const caller: Method = (...args) => {
      const waiting = load();
      return waiting ? waiting.then(() => (members()[key] as Method)(...args)) : (members()[key] as Method)(...args);
    };
    callers.set(key, caller);
    return caller;
  };
  const parts = new Map<PropertyKey, unknown>();
  const part = (key: PropertyKey): unknown => {
    const made = parts.get(key) ?? createServiceHandle(() => members()[key] as Members, load);
    parts.set(key, made);
    return made;
  };
  return proxyOf(members, (key) => {
    // A handle may be awaited or printed while nobody provides the service.
    if (typeof key === "symbol" || key === "then" || key === "toJSON") return undefined;
    if (load()) return call(key);
    const member = members()[key];
    if (typeof member === "function") return callers.get(key) ?? (isClass(member) ? member : call(key));
    if (parts.has(key) && typeof member === "object" && member !== null) return parts.get(key); // looking into it each time would cost more than the call
    return holdsFunctions(member) ? part(key) : member;
  }) as T;
}

/** A proxy over nothing: over the object itself a frozen member could not be shown in its wrapped form. */
function proxyOf(members: () => Members, get: (key: PropertyKey) => unknown): object {
  return new Proxy(Object.create(null) as object, {
    get: (_, key) => get(key),
    set: (_, key, value) => Reflect.set(members(), key, value),
    has: (_, key) => Reflect.has(members(), key),
    ownKeys: () => Reflect.ownKeys(members()),
    getPrototypeOf: () => Object.getPrototypeOf(members()) as object | null,
    getOwnPropertyDescriptor(_, key) {
      const own = Object.getOwnPropertyDescriptor(members(), key);
      return own && { value: get(key), writable: true, enumerable: own.enumerable ?? true, configurable: true };
    },
  });
}

/** A plain object with functions of its own: a part of a contract such as `store.sessions`, not data and not a class instance. */
function holdsFunctions(value: unknown): value is Members {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isProxyOfPlain = prototype === Object.prototype || prototype === null;
  return isProxyOfPlain && Object.values(value).some((member) => typeof member === "function");
}

function isClass(value: unknown): boolean {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}
