import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

const running = new Set<ChildProcess>()
// Child processes end with the test, even if it fails or they hang.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a process that ends with this one at the latest. */
export function childOf(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(program, args, options)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}
