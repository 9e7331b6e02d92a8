/** Returns whether a name is valid: up to 100 letters, digits, `-`, `_` and `.`, and no `_` or `.` at the beginning. */
export function isTenantName(name: string): boolean {
  return /^[a-z0-9-][a-z0-9._-]{0,99}$/i.test(name)
}
