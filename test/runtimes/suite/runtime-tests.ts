import { createSandbox, ReplyError, type Sandbox } from 'stuntdouble'
import { assertIdempotent } from 'stuntdouble/checks'
import { sandboxMatchers } from 'stuntdouble/matchers'
import { loadTrace, toHtml } from 'stuntdouble/report'
import { playScenario, scenarios } from 'stuntdouble/scenarios'
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
  {
    name: 'entries: each class exists once, in whatever entry an object was made',
    async run({ expect, sandbox }) {
      const made: object[] = [createSandbox(), (await playScenario(Object.values(scenarios)[0]!)).sandbox]
      await assertIdempotent(() => new Response('ok'), {
        under: ['duplicate'],
        publish(own) {
          made.push(own)
          return own.queue.publish({ to: 'https://shop.test/orders' })
        },
      })
      expect(made.length > 2).toBe(true)
      for (const one of made as Sandbox[]) {
        expect(one instanceof sandbox.constructor).toBe(true)
        expect(one.store instanceof sandbox.store.constructor).toBe(true)
        expect(one.traffic instanceof sandbox.traffic.constructor).toBe(true)
        expect(thrownBy(() => one.store.run('GET')) instanceof ReplyError).toBe(true)
        // Both functions reject objects of other classes.
        expect(toHtml(one.traffic)).toContain('<html')
        expect(sandboxMatchers.toHaveKey.call({}, one.store, 'none').pass).toBe(false)
      }
      expect(loadTrace(sandbox.traffic.toTrace()) instanceof sandbox.traffic.constructor).toBe(true)
    },
  },
]

function thrownBy(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

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
