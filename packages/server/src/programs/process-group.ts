import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { hostSetTimeout } from '../../../../src/kernel/host.js'

const isWindows = process.platform === 'win32'
/** How long processes of a group may take to end before they are killed, in host milliseconds. */
const patience = 2_000
/** How often is looked whether they have ended. */
const glance = 20

/**
 * A command and all that it has started. It is a process group of its own, so that one signal reaches all of them; what
 * leaves the group on purpose, such as a daemon, is left alone. Windows has no groups: its own program ends the tree.
 */
export class ProcessGroup {
  readonly leader: ChildProcess
  readonly #endWatch: () => void

  constructor(command: string, words: readonly string[], env: NodeJS.ProcessEnv) {
    // On Windows most commands of projects are scripts, which only a shell finds.
    const options = { stdio: 'inherit', env, shell: isWindows, detached: !isWindows } as const
    const watch = startWatch()
    this.leader = spawn(command, words, options)
    watch.begin(this.leader.pid)
    this.#endWatch = watch.end
  }

  /** @returns whether somebody was there to hear it */
  signal(name: NodeJS.Signals | 0): boolean {
    const { pid } = this.leader
    if (pid === undefined) return false
    try {
      if (!isWindows) return process.kill(-pid, name)
      // The console has told all of them already.
      if (name !== 'SIGINT') spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  }

  /** Ends what the leader has left behind. */
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
  /** The group is there. */
  readonly begin: (group: number | undefined) => void
  /** There is nothing to do any more. */
  readonly end: () => void
}

/**
 * Nobody hears of a SIGKILL. But the pipe to a small shell closes with us however we end, and then the shell ends the
 * group; a second line in the pipe tells it that there is nothing to do. It runs before the group does, which could
 * otherwise outlive us. Without a shell, or in the instant in which the command is started, the group outlives a SIGKILL.
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
