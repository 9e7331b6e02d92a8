import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'
import { toHtml } from '../../src/report/index.js'

const orders = 'https://shop.test/orders'

/** An order that is rejected twice, then delivered, and reported each time. */
async function story(seed = 7): Promise<Sandbox> {
  const sandbox = createSandbox({ seed, startAt: '2030-01-01T09:00:00Z' })
  const { queue, destinations, clock, store } = sandbox
  destinations.script(orders, [fault.status(500), fault.status(503)])
  destinations.respond('https://shop.test/done', () => 200)
  store.run('SET', 'stock', 5)
  queue.publish({ to: orders, body: { id: 42, note: 'gift' }, callback: 'https://shop.test/done' })
  await clock.drain()
  return sandbox
}

describe('toHtml()', () => {
  test('returns one self-contained page, with the same bytes for the same seed', async () => {
    const [one, other, third] = await Promise.all([story(), story(), story(8)])
    const html = toHtml(one.traffic)
    // Not `toBe`, because a failure would print both pages.
    expect([html === toHtml(other.traffic), html === toHtml(third.traffic)]).toEqual([true, false])
    expect(html.startsWith('<!doctype html>')).toBe(true)
    // Text between the tags. The script creates further elements.
    const markup = html.replace(/(<(script|style)\b[^>]*>).*?(<\/\2>)/gs, '$1$3')
    expect(markup).not.toMatch(/<(?:link|img|iframe|object|embed)\b|\bsrc=/i)
    expect(/<style>(.*?)<\/style>/s.exec(html)![1]).not.toMatch(/@import|url\(/i)
    expect(html).toContain("default-src 'none'")
    expect(html).not.toContain('unsafe-inline')
  })

  test('runs only the script and the style that its content security policy allows', async () => {
    const html = toHtml((await story()).traffic)
    const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`
    const inline = [...html.matchAll(/<(script|style)(?: id="copying")?>(.*?)<\/\1>/gs)].map(([, tag, text]) => [
      tag,
      hashOf(text!),
    ])
    expect(inline.map(([tag]) => tag).sort()).toEqual(['script', 'script', 'style'])
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)![1]!
    const allowed = (tag: string | undefined): string[] => new RegExp(`${tag}-src ([^;]*)`).exec(policy)![1]!.split(' ')
    for (const tag of ['script', 'style']) {
      const hashes = inline.filter(([name]) => name === tag).map(([, hash]) => `'${hash}'`)
      expect(allowed(tag).sort()).toEqual(hashes.sort())
    }
  })

  test('accepts a trace as well as a sandbox', async () => {
    const { traffic } = await story()
    const trace = JSON.stringify(traffic.toTrace())
    expect(toHtml(trace)).toContain('published msg_')
    // Only the sandbox has the changes of the store.
    const bare = toHtml(traffic)
      .replace(/<script type="application\/json" data-block="changes">.*?<\/script>\n/gs, '')
      .replace(/"changes":\d+/, '"changes":0')
    expect([toHtml(JSON.parse(trace)) === toHtml(trace), toHtml(trace) === bare]).toEqual([true, true])
  })

  test('shows the timeline to readers without scripts', async () => {
    const { traffic } = await story()
    const html = toHtml(traffic, { title: 'Orders <1>' })
    expect(html).toContain('<title>Orders &#60;1&#62;</title>')
    expect(/<noscript><pre>(.*)<\/pre><\/noscript>/s.exec(html)![1]).toContain('attempt 3 of 4')
  })

  test('omits entries outside the view and states how many were dropped', () => {
    const sandbox = createSandbox({ policy: { maxTrafficEntries: 10 } })
    for (let count = 0; count < 40; count++) sandbox.store.run('INCR', 'n')
    expect(toHtml(sandbox.traffic)).toMatch(/<noscript><pre>.*\d+ earlier entries.*dropped.*keeps 10 entries/s)
    expect(toHtml(createSandbox().traffic)).toContain('(no traffic)')
  })
})
