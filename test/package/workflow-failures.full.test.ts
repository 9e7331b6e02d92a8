import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type Run, type Runner, runnerNames, runUnder } from '../failures/runners.ts'

// Runs a workflow of Hono and one of Next.js in every runner, as modules and in CommonJS. A failure states its cause, and
// a passing test prints nothing.

const consumer = inject('consumer')

const options = "{ dialect: 'upstash', intercept: 'fetch' }"
const oneSandbox = `const sandbox = useSandbox(${options})
const test = (name, body) => globalThis.test(name, () => body({ sandbox }))
`
const sdk = `import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/hono'
import { serve as serveNext } from '@upstash/workflow/nextjs'
import { Hono } from 'hono'
`
const heads: Readonly<Record<Runner, string>> = {
  vitest: `import { expect, test as base } from 'stuntdouble/vitest'
const test = base.override('sandboxOptions', ${options})
${sdk}`,
  jest: `const { useSandbox } = require('stuntdouble/jest')
const { Client } = require('@upstash/workflow')
const { serve } = require('@upstash/workflow/hono')
const { serve: serveNext } = require('@upstash/workflow/nextjs')
const { Hono } = require('hono')
${oneSandbox}`,
  'jest as a module': `import { useSandbox } from 'stuntdouble/jest'\n${sdk}${oneSandbox}`,
  playwright: `import { startServer } from 'stuntdouble/server'
import { expect, test as base } from 'stuntdouble/playwright'
${sdk}const test = base.extend({
  sandboxOptions: ${options},
  sandboxServer: [
    async ({}, use) => {
      const server = await startServer({ port: 0, clock: 'manual' })
      await use({ url: server.origin })
      await server.close()
    },
    { scope: 'worker' },
  ],
})
test('a verb that nothing meets at a server', async ({ remoteSandbox }) => {
  await remoteSandbox.workflow.stubEvent('approved').timesOut()
})
`,
}

const tests = `
const shop = 'https://shop.test'
const url = shop + '/api/order'
async function order({ clock, destinations }) {
  const app = new Hono()
  const route = async (context) => {
    const charge = await context.run('charge', () => 'paid')
    await context.sleep('cooling off', '1d')
    return charge
  }
  app.post('/api/order', serve(route))
  destinations.on(url, (request) => app.fetch(request)).on(shop + '/api/next', serveNext(route).POST)
  for (const path of ['/api/order', '/api/next']) await new Client({}).trigger({ url: shop + path })
  await clock.drain()
}

test('all is well', async ({ sandbox }) => {
  await order(sandbox)
  for (const path of ['/api/order', '/api/next'])
    expect(sandbox).toHaveWorkflowRun({ workflow: shop + path, state: 'success', result: 'paid' })
})

test('a verb is used', async ({ sandbox }) => {
  sandbox.workflow.stubStep('charge').returns('given')
  await order(sandbox)
  expect(sandbox).toHaveWorkflowStep('charge', { attempts: 1, result: 'given' })
})

test('a verb that nothing meets', async ({ sandbox }) => {
  sandbox.workflow.stubStep('chrage').returns('given')
  await order(sandbox)
})

test('another result', async ({ sandbox }) => {
  await order(sandbox)
  expect(sandbox).toHaveWorkflowRun({ workflow: url, result: 'shipped' })
})
`

const unused =
  /^(?:UnfinishedBusiness: )?workflow\.stubStep\('chrage'\)\.returns\(…\) was never used: no step 'chrage' occurred; there is 'charge'\.\n/

describe.each(runnerNames)('%s', (runner) => {
  let run: Run
  beforeAll(async () => {
    run = await runUnder(runner, consumer, heads[runner] + tests)
  })

  const message = (name: string): string | undefined => run.tests.get(name)?.message

  test('passes without output about requests of the sandbox to the SDK', () => {
    expect([...run.tests.keys()]).toContain('all is well')
    expect([message('all is well'), message('a verb is used')]).toEqual([undefined, undefined])
    expect(run.printed).not.toContain('Incompatible step')
  })

  test('fails a test with an unused stub', () => {
    expect(message('a verb that nothing meets')).toMatch(unused)
  })

  test('prints the steps of the run in the failure of a matcher', () => {
    const told = message('another result')
    expect(told).toContain("✗ result: expected 'shipped', received 'paid'")
    expect(told).toMatch(/1 charge {2}Run, done → "paid"\n {2}2 "cooling off" {2}Sleep/)
    expect(told!.split('\n').length).toBeLessThan(40)
  })

  test.skipIf(runner !== 'playwright')('fails a test with an unused stub at a server', () => {
    expect(message('a verb that nothing meets at a server')).toMatch(
      /workflow\.stubEvent\('approved'\)\.timesOut\(\) was never used.*event 'approved'/,
    )
  })
})
