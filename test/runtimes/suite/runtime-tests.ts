import type { SuiteTest } from './suite-test.ts'
import { traceOf } from './traced-scenario.ts'

/** What depends on the runtime: its environment, its sockets, its random numbers. */
export const runtimeTests: readonly SuiteTest[] = [
  {
    name: 'environment: Redis.fromEnv() finds the sandbox',
    needs: 'environment',
    async run({ expect, sandbox: { env, store } }) {
      const { Redis } = await import('@upstash/redis')
      const before = { ...process.env }
      Object.assign(process.env, env)
      try {
        await Redis.fromEnv().set('a', 'b')
      } finally {
        for (const name of Object.keys(env)) {
          if (before[name] === undefined) delete process.env[name]
          else process.env[name] = before[name]
        }
      }
      expect(store.get('a')).toBe('b')
    },
  },
  {
    name: 'Redis protocol: a socket of the machine reaches the same store',
    needs: 'sockets',
    async run({ expect, sandbox }) {
      const { redisConversation } = await import('./sockets.ts')
      expect(
        await redisConversation(sandbox, '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\n42\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n'),
      ).toBe('+OK\r\n:43\r\n')
      expect(sandbox.store.get('a')).toBe('43')
    },
  },
]

/** The last test: it prints the trace that the comparison of the runtimes reads. */
export const traceTest = (report: (trace: string) => void): SuiteTest => ({
  name: 'traces: the same seed gives the same bytes',
  async run({ expect }) {
    const trace = await traceOf(7)
    expect((await traceOf(7)) === trace).toBe(true)
    expect((await traceOf(8)) === trace).toBe(false)
    report(trace)
  },
})
