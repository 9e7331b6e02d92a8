import { expect, test } from 'vitest'
import { writerOf } from '../../packages/server/src/control/wire-entry.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { type Bytes, latin1, toBase64, utf8 } from '../../src/kernel/bytes.js'
import { diffTraces, loadTrace, toHtml } from '../../src/report/index.js'
import { amount } from '../support/effort.js'
import { orders } from './worlds.js'

// Bodies of the maximum size and of each shape: no report may throw.
const size = amount(2_000_000, 2_000_000, 10_000_000)
/** Shapes that are harmless once but expensive for patterns when repeated. */
const less = 1_000_000
const repeated = (part: string, length = less): string => part.repeat(Math.floor(length / part.length))

const shapes: Readonly<Record<string, () => string>> = {
  'one large text': () => `{"text":"${'x'.repeat(size)}"}`,
  'one large text with escapes': () => `{"text":"${repeated('a\\n\\"b', size)}"}`,
  'many small fields': () => `{${Array.from({ length: less / 20 }, (_, at) => `"f${at}":"v${at}"`).join(',')}}`,
  'a list of many items': () => `[${Array.from({ length: less / 10 }, (_, at) => `"i${at}"`).join(',')}]`,
  'JSON in JSON': () => {
    let text = 'x'
    while (text.length < size / 4) text = JSON.stringify({ text })
    return text
  },
  'base64 in base64': () => {
    let text = 'some words '.repeat(50_000)
    while (text.length < size / 4) text = JSON.stringify({ body: toBase64(latin1(text)) })
    return text
  },
  '100,000 levels': () => `${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`,
  'brackets that nobody closes': () => repeated('[', size),
  'bytes that are not text': () => repeated('\xff\xc3{"a":"\xfe"}'),
  'every control character': () =>
    JSON.stringify({
      text: repeated(String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code))).slice(0, 1e6),
    }),
  'control characters as they are': () =>
    repeated(String.fromCharCode(...Array.from({ length: 160 }, (_, code) => code))),
}

const reports: Readonly<Record<string, (sandbox: Sandbox) => number>> = {
  timeline: ({ traffic }) => traffic.timeline().length,
  diagram: ({ traffic }) => traffic.diagram().length,
  mermaid: ({ traffic }) => traffic.diagram({ format: 'mermaid' }).length,
  tree: ({ traffic }) => String(traffic.tree(traffic.ofType('published')[0]!.messageId)).length,
  har: ({ traffic }) => JSON.stringify(traffic.toHar()).length,
  normalized: ({ traffic }) => JSON.stringify(traffic.normalized()).length,
  html: ({ traffic }) => toHtml(traffic).length,
  'wire, trace, loaded and compared': (sandbox) => {
    const writer = writerOf(sandbox)
    const wire = sandbox.traffic.entries.map((entry) => JSON.stringify(writer.entry(entry)).length)
    const loaded = loadTrace(JSON.stringify(sandbox.traffic))
    expect(diffTraces(loaded, loaded).equal).toBe(true)
    return wire.length
  },
}

test.each(Object.entries(shapes))(
  'every report handles %s',
  async (_, shape) => {
    const body = shape() as Bytes
    using sandbox = createSandbox()
    sandbox.destinations.respond('https://*', () => ({ status: 500, body }))
    sandbox.queue.publish({ to: orders, body: new Uint8Array(0), retries: 0 })
    sandbox.store.run('SET', 'large', utf8(`{"password":"Zq-planted","rest":${body.slice(0, 9_000_000)}`))
    await sandbox.clock.drain()
    for (const [name, report] of Object.entries(reports))
      expect([name, report(sandbox)]).toEqual([name, expect.any(Number)])
    expect(sandbox.traffic.timeline()).not.toContain('Zq-planted')
  },
  120_000,
)
