import type { Invariant } from './invariant.js'

export const noAttemptLeftRunning: Invariant = {
  name: 'no-attempt-left-running',
  guarantee:
    'When the sandbox is idle and has no timers, the log contains the end of every attempt, regardless of its destination.',
  examine({ world, stories }, findings) {
    if (!world.isDrained) return
    for (const { id, published, attempts, isAbandoned } of stories.values()) {
      if (isAbandoned) continue
      const running = attempts.find(({ outcome }) => outcome === undefined)
      if (running === undefined) continue
      findings.broken(
        `attempt ${running.retried + 1} of ${id} is still running, and nothing will end it`,
        published,
        running,
      )
    }
  },
}
