import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

const running = new Set<ChildProcess>()
// Whatever becomes of a test, its processes do not outlive it, not even those that stand still.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A process that ends with this one at the latest. */
export function childOf(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(program, args, options)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}
