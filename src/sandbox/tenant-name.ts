import { isStoreSegment } from '../store/rest/store-endpoints.js'

/** Returns whether a tenant can have this name. */
export function isTenantName(name: string): boolean {
  return tenantNameFlaw(name) === undefined
}

/**
 * Returns why a tenant cannot have this name, as a clause that begins with `a name`. Returns `undefined` for a valid
 * name: up to 100 letters, digits, `-`, `_` and `.`, no `_` or `.` at the beginning, and no name of a path of the store.
 */
export function tenantNameFlaw(name: string): string | undefined {
  if (!/^[a-z0-9-][a-z0-9._-]{0,99}$/i.test(name)) {
    return "a name must consist of letters, digits, '-', '_' and '.', must not begin with '_' or '.', and must have at most 100 characters."
  }
  // Otherwise `/get/a` could be a path of tenant `get`, or the command GET for the store at the root of a server.
  if (isStoreSegment(name)) {
    return `a name must not be a command or path of the store, because /${name} at the root of a server belongs to the store of main. Use another name, such as ${name}-1.`
  }
  return undefined
}
