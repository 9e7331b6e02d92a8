import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { isPrinted, type Run, type Runner, runnerNames, runUnder } from '../failures/runners.ts'

// Breaks the README's test on purpose. Its failure must explain what happened to a reader who does not know the app.

const consumer = inject('consumer')

interface Break {
  readonly name: string
  /** A change of the test or the app. */
  readonly changes: readonly (readonly [from: string, to: string])[]
  /** Texts in the failure: what was expected, what happened instead, when and why. */
  readonly tells: readonly (string | RegExp)[]
}

const recorded = ['  expect(orders.last().json()).toEqual({ id: 42 })\n', ''] as const
const firstWait =
  /attempt 1 of 4 of msg_\w+… to https:\/\/shop\.test\/orders → 503 Service Unavailable\n(?: +response: [^\n]+\n)? +waits 12s until 00:00:12\.000: .*back-off/
const secondWait =
  /attempt 2 of 4 .* → 503 Service Unavailable\n(?: +response: [^\n]+\n)? +waits 2m28s until 00:02:40\.000: /

const breaks: readonly Break[] = [
  {
    name: 'another count of attempts',
    changes: [['attempts: 3', 'attempts: 2']],
    tells: [
      "expect(queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: 2, status: 200 })",
      '✓ to   ✗ attempts: expected 2, received 3   ✓ status',
      firstWait,
      secondWait,
      /attempt 3 of 4 .* → 200/,
    ],
  },
  {
    name: 'another status',
    changes: [['status: 200', 'status: 201']],
    tells: ['✓ to   ✓ attempts   ✗ status: expected 201, received 200', firstWait, /attempt 3 of 4 .* → 200/],
  },
  {
    name: 'another address',
    changes: [["to: 'https://shop.test/orders'", "to: 'https://shop.test/order'"]],
    tells: [
      / {2}#\d+ at 00:02:40\.000 {3}msg_\w+… {3}to https:\/\/shop\.test\/orders\n {6}✗ to: expected 'https:\/\/shop\.test\/order', received 'https:\/\/shop\.test\/orders' {3}✓ attempts {3}✓ status/,
    ],
  },
  {
    name: 'too little time',
    changes: [["advance('5m')", "advance('1m')"]],
    tells: [
      '✗ attempts: expected 3, received 2',
      "✗ state: expected 'DELIVERED', received 'RETRY'",
      /Hint: msg_\w+… waits 1m40s, until 00:02:40\.000 \(.*back-off.*\)\. .*2 of 4 attempts failed: .*await sandbox\.clock\.advance\('1m40s'\)/,
      secondWait,
    ],
  },
  {
    name: 'a shop that stays down',
    changes: [
      ['[503, 503]', '[503, 503, 503, 503]'],
      ["advance('5m')", "advance('1d')"],
    ],
    tells: [
      "✗ state: expected 'DELIVERED', received 'FAILED'",
      '✗ status: expected 200, received 503',
      /attempt 4 of 4 .* → 503 Service Unavailable\n(?: +response: [^\n]+\n)? +failed permanently/,
      /dead letter .*: msg_\w+… to https:\/\/shop\.test\/orders/,
    ],
  },
  {
    name: 'nothing was published',
    changes: [['  await new Client()', '  if (queue === undefined) await new Client()'], recorded],
    tells: ['Expected a delivered message. There were no delivered messages at all.'],
  },
]

/** Returns the first example of the README as a test with this name and these changes. */
function broken({ name, changes }: Break): string {
  const readme = readFileSync(join(consumer, 'node_modules/stuntdouble/README.md'), 'utf8')
  let code = /^```ts\n(.*?)^```$/ms.exec(readme)![1]!.replace(/^import .*\n/gm, '')
  for (const [from, to] of [[/^test\('[^']+'/m.exec(code)![0], `test('${name}'`], ...changes]) {
    // The last occurrence is in the assertion.
    const at = code.lastIndexOf(from)
    if (at === -1) throw new Error(`The README's test has changed: it has no ${from}`)
    code = code.slice(0, at) + to + code.slice(at + from.length)
  }
  return code
}

const oneSandbox = `const sandbox = useSandbox()
const test = (name, body) => globalThis.test(name, () => body({ sandbox }))
`
const heads: Readonly<Record<Runner, string>> = {
  vitest: "import { Client } from '@upstash/qstash'\nimport { expect, test } from 'stuntdouble/vitest'\n",
  jest: `const { Client } = require('@upstash/qstash')\nconst { useSandbox } = require('stuntdouble/jest')\n${oneSandbox}`,
  'jest as a module': `import { Client } from '@upstash/qstash'\nimport { useSandbox } from 'stuntdouble/jest'\n${oneSandbox}`,
  // The fixture of Playwright needs a browser, which not every machine has. This test does not need it.
  playwright: `import { Client } from '@upstash/qstash'
import { expect, test as inPlaywright } from '@playwright/test'
import 'stuntdouble/playwright/extend'
import { createSandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
const test = (name, body) => inPlaywright(name, async () => {
  using sandbox = createSandbox()
  replaceFetch(sandbox)
  Object.assign(process.env, sandbox.env)
  await body({ sandbox })
})
`,
}

describe.each(runnerNames)('%s', (runner) => {
  let run: Run
  beforeAll(async () => {
    run = await runUnder(runner, consumer, [heads[runner], ...breaks.map(broken)].join('\n'))
  })

  test.each(breaks.map((one): [string, Break] => [one.name, one]))('%s', (name, { tells }) => {
    const message = run.tests.get(name)?.message ?? 'it passed'
    for (const text of tells) {
      if (typeof text === 'string') expect(message).toContain(text)
      else expect(message).toMatch(text)
    }
    expect(message.match(/^Replay: /gm)).toHaveLength(1)
    expect(isPrinted(run.printed, message), run.printed).toBe(true)
  })
})
