import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox, type Sandbox, status } from '../../src/index.js'
import { utf8 } from '../../src/kernel/bytes.js'
import { toHtml } from '../../src/report/index.js'
import { hasBrowser, launch, open } from './page.js'

const orders = 'https://shop.test/orders'

/** An order that is refused twice, delivered, and reported each time. */
async function story(seed = 7): Promise<Sandbox> {
  const sandbox = createSandbox({ seed, startAt: '2030-01-01T09:00:00Z' })
  const { queue, destinations, clock, store } = sandbox
  destinations.script(orders, [status(500), status(503)])
  destinations.answer('https://shop.test/done', () => 200)
  store.run('SET', 'stock', 5)
  queue.publish({ to: orders, body: { id: 42, note: 'gift' }, callback: 'https://shop.test/done' })
  await clock.drain()
  return sandbox
}

describe('the HTML report', () => {
  test('is one page with everything in it, the same bytes for the same seed', async () => {
    const [one, other, third] = await Promise.all([story(), story(), story(8)])
    const html = toHtml(one.traffic)
    // Not toBe: a failure would print both pages.
    expect([html === toHtml(other.traffic), html === toHtml(third.traffic)]).toEqual([true, false])
    expect(html.startsWith('<!doctype html>')).toBe(true)
    expect(html).not.toMatch(/<(?:link|img|iframe|object|embed)\b|\bsrc=|@import|url\(/i)
    expect(html).toContain("default-src 'none'")
    expect(html).not.toContain('unsafe-inline')
  })

  test('is made from a trace as well as from a sandbox', async () => {
    const { traffic } = await story()
    const trace = JSON.stringify(traffic.toTrace())
    expect(toHtml(trace)).toContain('published msg_')
    expect([toHtml(JSON.parse(trace)) === toHtml(trace), toHtml(trace) === toHtml(traffic)]).toEqual([true, true])
  })

  test('tells the story to those who have no scripts', async () => {
    const { traffic } = await story()
    const html = toHtml(traffic, { title: 'Orders <1>' })
    expect(html).toContain('<title>Orders &#60;1&#62;</title>')
    expect(/<noscript><pre>(.*)<\/pre><\/noscript>/s.exec(html)![1]).toContain('attempt 3 of 4')
  })

  test('leaves out what is no part of it, and says how much the log has forgotten', () => {
    const sandbox = createSandbox({ policy: { trafficLimit: 10 } })
    for (let count = 0; count < 40; count++) sandbox.store.run('INCR', 'n')
    expect(toHtml(sandbox.traffic)).toMatch(/role="note">\d+ earlier entries were dropped: the log keeps 10 entries/)
    expect(toHtml(createSandbox().traffic)).toContain('0 entries')
  })
})

describe.runIf(hasBrowser)('in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, 60_000)
  afterAll(() => browser?.close())

  test('it opens without a complaint and without asking for anything', async () => {
    const { page, complaints, requests } = await open(browser, toHtml((await story()).traffic))
    expect(await page.locator('.row').count()).toBeGreaterThan(5)
    expect(await page.locator('#count').textContent()).toMatch(/^\d+ entries$/)
    expect([complaints, requests]).toEqual([[], []])
    await page.context().close()
  }, 60_000)

  test('roles and names are there for everything that can be used', async () => {
    const { page } = await open(browser, toHtml((await story()).traffic))
    expect(await page.getAttribute('html', 'lang')).toBe('en')
    for (const heading of ['Traffic', 'Time axis', 'Entries', 'Details']) {
      expect(await page.getByRole('heading', { name: heading, exact: true }).count()).toBe(1)
    }
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('button, input, select, [role], [tabindex="0"]')]
        .filter((element) => !['none', 'option', 'status', 'note'].includes(element.getAttribute('role') ?? ''))
        .filter((element) => {
          const labels = (element as HTMLInputElement).labels?.length ?? 0
          return labels === 0 && !element.getAttribute('aria-label') && element.textContent?.trim() === ''
        })
        .map((element) => element.outerHTML),
    )
    expect(nameless).toEqual([])
    const ids = await page.evaluate(() => [...document.querySelectorAll('[id]')].map((element) => element.id))
    expect(new Set(ids).size).toBe(ids.length)
    const broken = await page.evaluate(
      () =>
        [...document.querySelectorAll('[aria-labelledby]')].filter(
          (element) => document.getElementById(element.getAttribute('aria-labelledby')!) === null,
        ).length,
    )
    expect(broken).toBe(0)
    await page.context().close()
  }, 60_000)

  test('the keyboard alone reaches the list, an entry and its details', async () => {
    const { page } = await open(browser, toHtml((await story()).traffic))
    const stops: string[] = []
    for (let press = 0; press < 24; press++) {
      await page.keyboard.press('Tab')
      const stop = await page.evaluate(() => {
        const element = document.activeElement as HTMLInputElement
        return element.id || element.value || element.className
      })
      stops.push(stop)
      if (stop === 'list') break
    }
    expect(stops.slice(0, 8)).toEqual(['skip', 'zoom-in', 'zoom-out', 'earlier', 'later', 'fit', 'scale', 'lanes'])
    expect(stops.slice(8, 10)).toEqual(['search', 'clear'])
    expect(stops.at(-1)).toBe('list')
    for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowDown')
    const list = page.getByRole('listbox')
    const active = await list.getAttribute('aria-activedescendant')
    expect(active).toMatch(/^row-\d+$/)
    expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true')
    expect(await page.locator('[aria-selected="true"]').count()).toBe(1)
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('detail')
    expect(await page.locator('#detail').textContent()).toContain('published msg_')
    expect(await page.locator('#detail').textContent()).toContain('"note": "gift"')
    await page.keyboard.press('Escape')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('list')
    await page.keyboard.press('End')
    expect(await page.locator('#detail-title').textContent()).toMatch(/^#\d+ attempt, 2030-01-01/)
    await page.context().close()
  }, 60_000)

  test('the filter narrows by words, types and one message', async () => {
    const sandbox = await story()
    const { page } = await open(browser, toHtml(sandbox.traffic))
    const shown = () => page.locator('#count').textContent()
    await page.getByRole('searchbox').fill('attempt 503')
    await expect.poll(shown).toBe(`1 of ${sandbox.traffic.size} entries`)
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('checkbox', { name: /^command/ }).uncheck()
    await expect
      .poll(shown)
      .toBe(`${sandbox.traffic.size - sandbox.traffic.of('command').length} of ${sandbox.traffic.size} entries`)
    await page.getByRole('button', { name: 'Show all' }).click()
    await page
      .getByRole('option', { name: /callback about/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Only this message' }).click()
    const callback = sandbox.traffic.filter({ type: 'published', kind: 'callback' })[0]!
    await expect
      .poll(shown)
      .toBe(`${sandbox.traffic.about(callback.messageId).length} of ${sandbox.traffic.size} entries`)
    await page.getByRole('button', { name: /^Cause: #/ }).click()
    expect(await page.locator('#detail-title').textContent()).toContain('attempt')
    await page.context().close()
  }, 60_000)

  test('the time axis zooms, moves and scales, by buttons and by the wheel', async () => {
    const { page } = await open(browser, toHtml((await story()).traffic))
    const span = () => page.locator('#span').textContent()
    const pixels = () => page.evaluate(() => (document.getElementById('axis') as HTMLCanvasElement).toDataURL())
    const everything = await span()
    expect(everything).toBe('09:00:00.000 to 09:02:40.000')
    const drawing = await pixels()
    await page.getByLabel('Scale').selectOption('time')
    await page.getByRole('button', { name: 'Zoom in' }).click()
    expect(await span()).toBe('09:00:40.000 to 09:02:00.000')
    await page.getByRole('button', { name: 'Earlier' }).click()
    expect(await span()).toBe('09:00:20.000 to 09:01:40.000')
    await page.getByRole('button', { name: 'Later' }).click()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    expect(await span()).toBe(everything)
    await page.locator('#axis').hover({ position: { x: 600, y: 60 } })
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -200)
    await page.keyboard.up('Control')
    await expect.poll(span).not.toBe(everything)
    await expect.poll(pixels).not.toBe(drawing)
    await page.context().close()
  }, 60_000)

  test('dark and light follow the reader, with enough contrast in both', async () => {
    const html = toHtml((await story()).traffic)
    for (const dark of [false, true]) {
      const { page } = await open(browser, html, { dark })
      await page.locator('.row').nth(2).click()
      const poor = await page.evaluate(() => {
        const canvas = document.createElement('canvas')
        const pen = canvas.getContext('2d')!
        const luminance = (colour: string): number => {
          pen.fillStyle = colour
          pen.fillRect(0, 0, 1, 1)
          const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((value) => {
            const part = value / 255
            return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
          })
          return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
        }
        const ground = (element: Element | null): string => {
          for (let one = element; one !== null; one = one.parentElement) {
            const { backgroundColor } = getComputedStyle(one)
            if (!/^rgba\(.*, 0\)$|transparent/.test(backgroundColor)) return backgroundColor
          }
          return 'white'
        }
        return [...document.querySelectorAll('h1, p, li, dt, dd, th, td, pre, button, label, output, .row span')]
          .filter((element) => element.textContent !== '')
          .map((element) => {
            const [one, other] = [luminance(getComputedStyle(element).color), luminance(ground(element))]
            return {
              text: element.textContent!.slice(0, 30),
              ratio: (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05),
            }
          })
          .filter(({ ratio }) => ratio < 4.5)
      })
      expect(poor).toEqual([])
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(ground).toBe(dark ? 'rgb(20, 24, 29)' : 'rgb(255, 255, 255)')
      await page.context().close()
    }
  }, 60_000)

  test('captured content stays content', async () => {
    const sandbox = createSandbox()
    const evil =
      '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=2">\u2028alert(1)\u2029<!--<script>'
    sandbox.destinations.answer('https://shop.test/*', () => ({
      status: 500,
      body: utf8(evil),
      headers: { 'x-evil': '<svg onload=window.pwned=3>' },
    }))
    sandbox.queue.publish({
      to: `https://shop.test/%3Cb%3E?q=<svg/onload=window.pwned=4>`,
      body: evil,
      headers: { 'x-evil': '"><script>window.pwned=5</script>' },
      retries: 0,
      label: '<b>label</b>',
    })
    sandbox.store.run('SET', evil, '\x1b]0;title\x07\x1b[31mred\u202egnp.exe')
    sandbox.store.run('HSET', '__proto__', 'constructor', '{"__proto__":{"polluted":true}}')
    await sandbox.clock.drain()
    const { page, complaints, requests } = await open(browser, toHtml(sandbox.traffic, { title: evil }))
    for (const option of await page.locator('.row').all()) await option.click()
    expect(await page.evaluate(() => (window as { pwned?: unknown }).pwned)).toBeUndefined()
    expect(await page.evaluate(() => ({}) as { polluted?: unknown }).then((value) => value.polluted)).toBeUndefined()
    expect(await page.evaluate(() => document.querySelectorAll('img, svg, b, main script').length)).toBe(0)
    expect([complaints, requests]).toEqual([[], []])
    expect(await page.textContent('body')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/)
    await page.context().close()
  }, 60_000)

  test('of ten thousand entries it draws only those that are in sight, wherever one scrolls', async () => {
    const sandbox = createSandbox()
    sandbox.destinations.answer(orders, () => 200)
    for (let count = 0; count < 2500; count++)
      sandbox.queue.publish({ to: orders, body: { id: count }, delay: `${count % 60}s` })
    await sandbox.clock.drain()
    for (let count = sandbox.traffic.size; count < 10_000; count++) sandbox.store.run('SET', `k${count}`, 'v')
    const { page, complaints } = await open(browser, toHtml(sandbox.traffic))
    const list = page.getByRole('listbox')
    const drawn = () => page.locator('.row').count()
    expect(await drawn()).toBeLessThan(100)
    for (const part of [0.3, 0.77, 1]) {
      await list.evaluate((element, to) => element.scrollTo(0, element.scrollHeight * to), part)
      await expect
        .poll(async () => Number(await page.locator('.row').last().getAttribute('aria-posinset')))
        .toBeGreaterThan(9_000 * part)
      expect(await drawn()).toBeLessThan(100)
    }
    expect(await page.locator('.row').last().getAttribute('aria-setsize')).toBe(String(sandbox.traffic.size))
    expect(complaints).toEqual([])
    await page.context().close()
  }, 60_000)
})
