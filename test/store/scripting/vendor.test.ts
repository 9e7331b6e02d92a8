import { describe, expect, it } from 'vitest'
import { createEngine } from '../../support/engine.js'
import { steps } from '../lua-vendor.steps.js'
import { vendorDigests, vendorScript, vendorScripts } from './vendor-scripts.js'

const flagged = '#!lua flags=allow-key-locking'

describe('scripts of the vendor’s packages', () => {
  it('are all found, as many as the specification counts', () => {
    expect(vendorScripts('@upstash/ratelimit')).toHaveLength(14)
    expect(vendorScripts('@upstash/lock')).toHaveLength(2)
    expect(vendorScripts('@upstash/core-analytics')).toHaveLength(3)
  })

  it.each(vendorDigests('@upstash/ratelimit'))('%s has the digest that the package expects', (name, digest) => {
    const engine = createEngine()
    const source = Buffer.from(vendorScript('@upstash/ratelimit', name), 'utf8').toString('latin1')
    expect(engine.execute(['EVALSHA', digest, '0'])).toMatch(/^-NOSCRIPT /)
    expect(engine.execute(['SCRIPT', 'LOAD', source])).toBe(`$40\r\n${digest}\r\n`)
    expect(engine.execute(['SCRIPT', 'EXISTS', digest])).toBe('*1\r\n:1\r\n')
  })

  it.each(steps.map((section) => [section.title, section.steps] as const))(
    '%s: returns the same with key locking, which its keys allow',
    (_, rows) => {
      const free = createEngine()
      const locking = createEngine()
      for (const { argv } of rows) {
        const [name, source = '', ...rest] = argv
        const withFlag = source.startsWith('#!lua\n') ? source.replace('#!lua', flagged) : source
        expect(locking.execute([name!, withFlag, ...rest].slice(0, argv.length))).toBe(free.execute(argv))
      }
    },
  )
})
