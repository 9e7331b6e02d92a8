/** Letters, digits, `-`, `_` and `.`, not beginning with `_` or `.`. */
export function isTenantName(name: string): boolean {
  return /^[a-z0-9-][a-z0-9._-]{0,99}$/i.test(name)
}
