/** One line of greeting. Pure, so that it can be tested without a gateway. */
export function greet(greeting: string, name: string): string {
  return `${greeting}, ${name.trim() || "you"}!`;
}
