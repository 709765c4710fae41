/** Something that has no form in JSON, or not the one it seems to have. */
const foreign = new Set(["bigint", "function", "symbol"]);

/**
 * A value as JSON text. What JSON would drop or change in silence is an error here: functions, symbols, numbers that are none, besides big integers and
 * cycles. Only own members count; members that are `undefined` are left out.
 * @returns undefined for `undefined`
 * @throws {TypeError} that names the member
 */
export function toStrictJson(value: unknown): string | undefined {
  return JSON.stringify(value, (key, member: unknown) => {
    const type = typeof member;
    if (foreign.has(type) || (type === "number" && !Number.isFinite(member))) {
      throw new TypeError(`${key === "" ? "it" : `"${key}"`} is ${type === "number" ? String(member) : `a ${type}`}, which is no JSON`);
    }
    return member;
  });
}
