// Anchored: a frame of the host, `node:internal/process/task_queues:104:5`, is no file.
const place = /(?:^|[\s(@])((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()\s]*?:\d+:\d+)\)?$/

let knownRoot: string | undefined

/** The root of this package as stack traces spell it: everything before the directory of this file. */
function ownRoot(): string {
  if (knownRoot !== undefined) return knownRoot
  const line = new Error('here').stack?.split('\n').find((frame) => place.test(frame)) ?? ''
  const file = place.exec(line)?.[1] ?? ''
  knownRoot = file.replace(/(?:kernel[\\/])?[^\\/]*$/, '')
  return knownRoot
}

/** `file:line:column` of the code outside this package and its dependencies that made an error, `''` when unknown. */
export function callerLine(error: Error): string {
  const root = ownRoot()
  for (const frame of (error.stack ?? '').split('\n').slice(1)) {
    const file = place.exec(frame.trim())?.[1]
    if (file === undefined || file.includes('node_modules')) continue
    if (root !== '' && file.startsWith(root)) continue
    return file
  }
  return ''
}
