// Matches the absolute path of a file, so that `node:internal/process/task_queues:104:5` does not match. In a browser,
// files have URLs of a server.
const place = /(?:^|[\s(@])((?:file:\/\/|https?:\/\/[^()\s/]+\/|\/|[A-Za-z]:[\\/])[^()\s]*?:\d+:\d+)\)?$/

let knownRoot: string | undefined

/**
 * Returns the root folder of this package, as it is written in stack traces. The root folder contains the folder
 * `kernel`, which contains this file.
 */
function ownRoot(): string {
  if (knownRoot !== undefined) return knownRoot
  const line = new Error('here').stack?.split('\n').find((frame) => place.test(frame)) ?? ''
  const file = place.exec(line)?.[1] ?? ''
  knownRoot = file.replace(/(?:kernel[\\/])?[^\\/]*$/, '')
  return knownRoot
}

/**
 * Returns `file:line:column` of the first line of the stack that is neither in this package nor in `node_modules`.
 * Returns `''` if there is no such line.
 */
export function callerLine(error: Error): string {
  const root = ownRoot()
  for (const frame of (error.stack ?? '').split('\n').slice(1)) {
    const file = place.exec(frame.trim())?.[1]
    if (file === undefined || file.includes('node_modules')) continue
    if (root !== '' && file.startsWith(root)) continue
    // A server for browsers adds its origin, and a query that changes with each run.
    return file.replace(/^https?:\/\/[^/]+/, '').replace(/\?[^/]*(?=:\d+:\d+$)/, '')
  }
  return ''
}

/** Matches the paths of this package's code in its own repository. */
const sources = /^(?:src|matchers|fixtures|properties)\//

/** Returns whether this package threw an error because it was used incorrectly. */
export function isMisuse({
  message,
  stack = '',
}: {
  readonly message: string
  readonly stack?: string | undefined
}): boolean {
  if (!/^(?:TypeError|RangeError|SyntaxError): /.test(stack) || message === 'fetch failed') return false
  const first = stack.split('\n').find((line) => /^ +at /.test(line)) ?? ''
  const file = place.exec(first.trim())?.[1]
  const root = ownRoot()
  if (file === undefined || root === '') return false
  if (file.startsWith(root)) return true
  const repository = /^(.*\/)src\/$/.exec(root)?.[1]
  return repository !== undefined && file.startsWith(repository) && sources.test(file.slice(repository.length))
}
