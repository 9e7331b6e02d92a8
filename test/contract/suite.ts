import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { type Adapter, type ConnectedSandbox, openSandbox } from './adapter.js'
import { cases } from './cases.js'
import { type Case, Client } from './client.js'
import { echoSuite } from './echo-suite.js'

/** Runs the echo service through one adapter, and the cases about transport, except those that `cannot` names. */
export function contractSuite(adapter: Adapter, chosen: readonly Case[] = transportCases(adapter)): void {
  describe.skipIf(adapter.missing !== undefined)(adapter.name, () => {
    if ('connector' in adapter) echoSuite(adapter.connector)
    if ('echoesOnly' in adapter) return
    sandboxSuite(adapter, chosen)
  })
}

function sandboxSuite(adapter: Adapter, chosen: readonly Case[]): void {
  describe('a sandbox', () => {
    let opened: ConnectedSandbox
    beforeAll(async () => {
      opened = await openSandbox(adapter)
    }, 30_000)
    afterAll(() => opened.close())
    beforeEach(() => opened.sandbox.reset())

    for (const one of chosen) {
      if (isCarried(adapter, one)) test(one.title, () => one.run(new Client(opened, adapter.visibility)), 20_000)
    }
  })
}

function transportCases(adapter: Adapter): readonly Case[] {
  const hasEchoes = 'connector' in adapter
  return cases.filter(({ repeat }) => repeat === 'each adapter' || (repeat === 'without echoes' && !hasEchoes))
}

/** If an adapter states another effect, its clients must observe that effect. */
function isCarried({ cannot, visibility }: Adapter, { need, fault }: Case): boolean {
  return cannot[need] === undefined || (fault !== undefined && visibility?.instead?.[fault] !== undefined)
}
