import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import type { CommandArg, PlainReply } from '../../../src/store/direct-store.js'
import type { Language } from '../../../src/store/values/search-definition.js'

/** Returns a sandbox in which every SEARCH command can run immediately. */
export async function searchingSandbox(options: SandboxOptions = {}, ...languages: Language[]): Promise<Sandbox> {
  const sandbox = createSandbox(options)
  await sandbox.store.loadSearch(...languages)
  return sandbox
}

/**
 * Returns a function that runs a command such as `SEARCH.CREATE idx ON JSON …`, split at blanks; further arguments are
 * unchanged.
 */
export function running({
  store,
}: Pick<Sandbox, 'store'>): (line: string, ...words: readonly CommandArg[]) => PlainReply {
  return (line, ...words) => store.run(...line.split(' '), ...words)
}

/** Returns the keys in a reply of SEARCH.QUERY. */
export function keysOf(reply: PlainReply): string[] {
  return (reply as readonly (readonly [string])[]).map(([key]) => key)
}
