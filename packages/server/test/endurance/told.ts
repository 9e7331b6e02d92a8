import type { ChildProcess } from 'node:child_process'

/** Returns the next message of a child process, and fails if it ends instead. */
export function told<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    if (child.exitCode !== null || child.signalCode !== null) return reject(new Error('the server has ended'))
    const ended = (code: number | null, signal: string | null): void =>
      reject(new Error(`the server ended with ${signal ?? code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message as T)
    })
  })
}
