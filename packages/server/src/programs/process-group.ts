import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { hostSetTimeout } from '../../../../src/kernel/host.js'

const isWindows = process.platform === 'win32'
/** Time between SIGTERM and SIGKILL for the processes of a group, in milliseconds of host time. */
const patience = 2_000
/** Interval between two checks whether all processes of the group have ended, in milliseconds of host time. */
const glance = 20

/**
 * A command and all its child processes, as one process group, so that one signal reaches all of them. A process that
 * leaves the group on purpose, such as a daemon, is not ended. Windows has no process groups. There `taskkill` ends the
 * command and its child processes.
 */
export class ProcessGroup {
  readonly leader: ChildProcess
  readonly #endWatch: () => void

  constructor(command: string, words: readonly string[], env: NodeJS.ProcessEnv) {
    // On Windows, most commands of a project are scripts, which need a shell to run.
    const options = { stdio: 'inherit', env, shell: isWindows, detached: !isWindows } as const
    const watch = startWatch()
    this.leader = spawn(command, words, options)
    watch.begin(this.leader.pid)
    this.#endWatch = watch.end
  }

  /** Sends a signal to the group. Returns whether a process received it. */
  signal(name: NodeJS.Signals | 0): boolean {
    const { pid } = this.leader
    if (pid === undefined) return false
    try {
      if (!isWindows) return process.kill(-pid, name)
      // The Windows console has already sent Ctrl-C to all processes.
      if (name !== 'SIGINT') spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  }

  /** Ends the processes that still run after the leader has ended. */
  async end(): Promise<void> {
    try {
      if (isWindows || !this.signal('SIGTERM')) return
      for (let waited = 0; waited < patience; waited += glance) {
        await new Promise<void>((resolve) => void hostSetTimeout(resolve, glance))
        if (!this.signal(0)) return
      }
      this.signal('SIGKILL')
    } finally {
      this.#endWatch()
    }
  }
}

interface Watch {
  readonly begin: (group: number | undefined) => void
  readonly end: () => void
}

/**
 * Starts a small shell that ends the group if this process dies. This process cannot handle SIGKILL. But whenever it
 * dies, its pipe to the shell is closed. A second line in the pipe means that the group has already ended. The shell
 * starts before the group, so that it watches the group from the start. Without `/bin/sh`, the group continues to run
 * after a SIGKILL of this process.
 */
function startWatch(): Watch {
  if (isWindows) return { begin: () => {}, end: () => {} }
  const kill = (name: string): string => `kill -s ${name} -- "-$group"`
  const script = `read -r group && { read -r _ || { ${kill('TERM')} && sleep ${patience / 1000} && ${kill('KILL')}; }; }`
  const shell = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  shell.on('error', () => {})
  shell.stdin.on('error', () => {})
  shell.unref()
  return {
    begin: (group) => void (group === undefined ? shell.stdin.end() : shell.stdin.write(`${group}\n`)),
    end: () => void shell.stdin.end('\n'),
  }
}
