import { describe, expect, test } from 'vitest'
import { playScenario, type Scenario } from '../../packages/explore/src/scenarios.js'
import { readScenario } from '../../packages/server/src/tenant-scenario/scenario-file.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { outboundFaultKinds } from '../../src/calls/outbound-steps.js'
import { catalog, faultKinds } from '../../src/faults/catalog.js'
import { scenarioProblems } from '../../src/scenarios/scenario.js'

const story = `
name: the bank loses an answer
startAt: 2030-01-01T09:00:00Z
outbound:
  - url: POST https://bank.test/charges
    script: [{ kind: lost-ack }, { kind: status, status: 503 }]
    response: { status: 201, body: { id: ch_1 }, delay: 2s }
steps:
  - publish: { to: 'https://shop.test/orders', body: { id: 42 }, retries: 3 }
  - drain: true
`

async function played(scenario: Scenario, code = 200): Promise<{ seen: unknown[]; verdict: string; holds: boolean }> {
  const seen: unknown[] = []
  const play = await playScenario(scenario, {
    setup: (sandbox) => {
      replaceFetch(sandbox)
      sandbox.destinations.on('https://shop.test/orders', async () => {
        if (code !== 200) return new Response(null, { status: code })
        const answer = await fetch('https://bank.test/charges', { method: 'POST' })
        if (answer.ok) seen.push(await answer.json())
        return new Response(null, { status: answer.ok ? 200 : 500 })
      })
    },
  })
  const calls = play.sandbox.traffic
    .ofType('outbound')
    .map(({ at, handlerRuns: handled, response: answer }) => [answer!.status, handled, answer!.at - at])
  return { seen: [...calls, ...seen], verdict: play.verdict(), holds: play.holds }
}

describe('outbound requests of a scenario', () => {
  test('get the steps of its script and then its response', async () => {
    const { seen, holds } = await played(readScenario(story, 'bank.yaml'))
    expect(seen).toEqual([[0, 1, 2000], [503, 0, 0], [201, 1, 2000], { id: 'ch_1' }])
    expect(holds).toBe(true)
  })

  test('an unused script step does not hold', async () => {
    const { verdict, holds } = await played(readScenario(story, 'bank.yaml'), 204)
    expect(holds).toBe(false)
    expect(verdict).toMatch(
      /script for POST https:\/\/bank\.test\/charges .*no outbound request.*: lost-ack, status 503/,
    )
  })

  test('accept each fault that applies to outbound requests, and no other', () => {
    const problems = (kind: (typeof faultKinds)[number]): readonly unknown[] =>
      scenarioProblems({ name: 'a', outbound: [{ url: 'https://bank.test/*', script: [catalog[kind].example] }] })
    for (const kind of outboundFaultKinds) expect([kind, problems(kind)]).toEqual([kind, []])
    for (const kind of faultKinds.filter((one) => !outboundFaultKinds.includes(one))) {
      expect([kind, problems(kind)]).toMatchObject([kind, [{ sentence: expect.stringContaining('lost-ack') }]])
    }
  })

  test.each([
    [{ url: 'bank.test' }, 'must be a URL that begins with https:// or http://'],
    [{ url: 'https://bank.test', scirpt: [] }, 'script'],
  ])('%j is rejected', (call, sentence) => {
    expect(scenarioProblems({ name: 'a', outbound: [call] })).toMatchObject([
      { sentence: expect.stringContaining(sentence) },
    ])
  })
})
