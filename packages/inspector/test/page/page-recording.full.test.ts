import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSandbox, fault } from '../../../../src/index.js'
import { utf8 } from '../../../../src/kernel/bytes.js'
import { toHtml } from '../../../../src/report/index.js'
import { hasBrowser, launch, open } from '../../../../test/report/page.js'
import { orders, seriousFindings, story } from './opened.js'

// The page of a saved trace in a real browser, without a network.

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

describe.runIf(hasBrowser)('a recording', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('opens without errors and requests, and has no controls that change a sandbox', async () => {
    const { page, complaints, requests } = await open(browser, toHtml((await story()).traffic, { title: 'Orders' }))
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Orders')
    await expect.poll(() => page.locator('.row[role=option]').count()).toBeGreaterThan(5)
    const tabs = page.getByRole('tablist', { name: 'Panels', exact: true }).getByRole('tab')
    const names = await tabs.allTextContents()
    expect(names.slice(0, 2)).toEqual(['Entry', 'Store'])
    expect(names).not.toContain('Tenants')
    expect(names).not.toContain('Console')
    for (const name of names) {
      await page.getByRole('tab', { name, exact: true }).first().click()
      const commands = page
        .locator('#panel')
        .getByRole('button', { name: /^(?:publish|advance|drain|retry|cancel|add|reset|inject|go on)/i })
      expect([name, await commands.allTextContents()]).toEqual([name, []])
      expect([name, await page.locator('#panel textarea, #panel [contenteditable=true]').count()]).toEqual([name, 0])
    }
    expect([complaints, requests]).toEqual([[], []])
    await page.context().close()
  })

  test('counts the faults of a script among the faults', async () => {
    using sandbox = createSandbox()
    sandbox.destinations.script(orders, [fault.lostAck(), fault.pass()])
    sandbox.queue.publish({ to: orders })
    await sandbox.clock.drain()
    const { page } = await open(browser, toHtml(sandbox.traffic))
    await expect.poll(() => page.getByRole('list', { name: 'Lanes' }).textContent()).toContain('Faults 1')
    await page.context().close()
  })

  test('shows the bar of every row of a double charge, including the last instant', async () => {
    const bank = 'https://bank.test/charges'
    using sandbox = createSandbox()
    sandbox.outbound.respond(bank, 201)
    sandbox.outbound.script(bank, [fault.lostAck(), 201])
    sandbox.destinations.on(orders, async () => {
      const answer = await sandbox.outbound.fetch(bank, { method: 'POST' }).catch(() => undefined)
      return new Response(null, { status: answer?.status ?? 500 })
    })
    sandbox.queue.publish({ to: orders })
    await sandbox.clock.drain()
    const { page } = await open(browser, toHtml(sandbox.traffic))
    const shown = (): Promise<(readonly [string | null, number])[]> =>
      page.locator('.row[role=option]').evaluateAll((rows) =>
        rows.map((row) => {
          const room = row.querySelector('.row-bar')!.getBoundingClientRect()
          const bar = row.querySelector('.bar')!.getBoundingClientRect()
          // The width without the line around it.
          const width = Math.min(bar.right, room.right - 1) - Math.max(bar.left, room.left + 1)
          return [row.querySelector('.row-number')!.textContent, width] as const
        }),
      )
    await expect.poll(async () => (await shown()).length).toBeGreaterThan(4)
    for (const [number, width] of await shown()) expect(width, number!).toBeGreaterThan(1.5)
    await page.context().close()
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 375],
  ] as const)('has no serious findings of axe, %s at %i px', async (colours, width) => {
    const failure = { message: 'expected 2 deliveries\nand got 3', nearest: 4 }
    const { page } = await open(browser, toHtml((await story()).traffic, { failure }), { dark: colours === 'dark' })
    await page.setViewportSize({ width, height: 800 })
    await expect
      .poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor))
      .toBe(colours === 'dark' ? 'rgb(20, 24, 29)' : 'rgb(255, 255, 255)')
    for (const name of width < 1000 ? ['Entry', 'Queue'] : ['Entry', 'Store', 'Queue', 'Faults', 'Copy']) {
      await page.getByRole('tab', { name, exact: true }).first().click()
      expect([name, await seriousFindings(page)]).toEqual([name, []])
    }
    // No element makes the page wider than the screen.
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    await page.context().close()
  })

  test.each([1280, 500, 375])('shows the end of a row at %i px', async (width) => {
    const { page } = await open(browser, toHtml((await story()).traffic))
    await page.setViewportSize({ width, height: 1600 })
    const cut = await page.locator('.row').evaluateAll((rows) =>
      rows
        .filter((row) => row.querySelector('.row-end') !== null)
        .map((row) => {
          const end = row.querySelector('.row-end')!
          const text = row.querySelector('.row-text')!
          return {
            row: row.textContent,
            out: Math.max(0, end.getBoundingClientRect().right - text.getBoundingClientRect().right),
          }
        }),
    )
    expect(cut.length).toBeGreaterThan(5)
    expect(cut.filter(({ out }) => out > 1)).toEqual([])
    await page.context().close()
  })

  test('opens with the failed assertion, and its nearest entry selected', async () => {
    const { traffic } = await story()
    const { seq } = traffic.ofType('attempt')[1]!
    const { page } = await open(
      browser,
      toHtml(traffic, { failure: { message: 'expected 200\n\nand got 503', nearest: seq } }),
    )
    const top = page.getByRole('region', { name: 'The assertion that failed' })
    await expect.poll(() => top.textContent()).toMatch(/^expected 200.*and got 503/s)
    const above = await page.evaluate(
      () => document.querySelector('.failure')!.compareDocumentPosition(document.querySelector('.axis')!) & 4,
    )
    expect(above).toBe(4)
    await expect.poll(() => page.locator('#detail-title').textContent()).toContain(`#${seq} Delivery attempt`)
    await expect.poll(() => page.locator('.row[aria-selected=true]').getAttribute('id')).toBe(`row-${seq}`)
    await page.context().close()
  })

  test('explains a trace without values in the store panel', async () => {
    const sandbox = createSandbox()
    sandbox.store.run('SET', 'stock', '1')
    const { page } = await open(browser, toHtml(JSON.stringify(sandbox.traffic)))
    await page.getByRole('tab', { name: 'Store', exact: true }).click()
    await page.getByText('This trace contains the commands').waitFor()
    await page.context().close()
  })

  test('reaches an entry, its cause, its instant, a panel and the list of keys by keyboard', async () => {
    const sandbox = await story()
    const { page } = await open(browser, toHtml(sandbox.traffic))
    const title = page.locator('#detail-title')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const published = sandbox.traffic.ofType('published')[0]!
    await page.keyboard.press('/')
    await page.keyboard.type('attempt 503 unavailable')
    await expect.poll(() => page.locator('#count').textContent()).toMatch(/^1 of \d+ entries$/)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('list')
    await page.keyboard.press('End')
    await expect.poll(() => title.textContent()).toContain('Delivery attempt')
    const active = await page.locator('#list').getAttribute('aria-activedescendant')
    await expect.poll(() => page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('c')
    await page.keyboard.press('c')
    await expect.poll(() => title.textContent()).toContain(`#${published.seq} `)
    await expect.poll(() => page.locator('#detail').textContent()).toContain('"note": "gift"')
    await page.keyboard.press('t')
    await expect
      .poll(() => page.getByRole('slider', { name: 'Instant' }).getAttribute('aria-valuetext'))
      .toBe('2030-01-01 09:00:00.000')
    await page.keyboard.press('s')
    await page.keyboard.press('ArrowRight')
    await expect
      .poll(() => page.getByRole('slider', { name: 'Instant' }).getAttribute('aria-valuetext'))
      .toBe('2030-01-01 09:00:12.000')
    await page.keyboard.press('2')
    await expect.poll(() => page.getByRole('tab', { selected: true }).first().textContent()).toBe('Store')
    await page.keyboard.press('?')
    await expect.poll(() => page.getByRole('dialog', { name: 'Keys' }).isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog', { name: 'Keys' }).isVisible()).toBe(false)
    await page.context().close()
  })

  test('keeps the selection in the link', async () => {
    const { page } = await open(browser, toHtml((await story()).traffic))
    await page.locator('.row[role=option]').nth(3).click()
    await page.keyboard.press('t')
    await page.keyboard.press('[')
    await page.keyboard.press('3')
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('tab=Queue')
    const link = await page.evaluate(() => location.hash)
    const selected = await page.locator('.row[aria-selected=true]').getAttribute('id')
    await page.goto('about:blank')
    await page.goto(`https://report.test/${link}`)
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true')
    await expect.poll(() => page.locator('.row[aria-selected=true]').getAttribute('id')).toBe(selected)
    await expect.poll(() => page.getByRole('tab', { selected: true }).first().textContent()).toBe('Queue')
    await expect.poll(() => page.getByRole('slider').getAttribute('aria-valuetext')).toBe('2030-01-01 09:00:00.000')
    await expect.poll(() => page.getByRole('button', { name: 'Clear range' }).isVisible()).toBe(true)
    await page.context().close()
  })

  test('shows each database of the store, limits the list to one, and keeps both in the link', async () => {
    using sandbox = createSandbox({ databases: ['eu', 'us'] })
    sandbox.store.run('SET', 'a', 'first')
    sandbox.storeIn('us').run('SET', 'a', 'second')
    sandbox.storeIn('us').run('SET', 'b', 'only here')
    const { page, complaints } = await open(browser, toHtml(sandbox.traffic))
    const rows = page.locator('.row[role=option]')
    await expect.poll(() => rows.count()).toBe(3)
    expect(await rows.allTextContents()).toEqual([
      expect.stringMatching(/SET a first/),
      expect.stringMatching(/SET a second.*\(us\)/),
      expect.stringMatching(/SET b .*\(us\)/),
    ])
    await rows.nth(1).click()
    await expect.poll(() => page.locator('#detail dl').textContent()).toMatch(/Databaseus/)
    const listed = page.getByRole('combobox', { name: 'Entries of', exact: true })
    for (const [choice, count] of [
      ['us', 2],
      ['eu', 0],
      ['the first database', 1],
    ] as const) {
      await listed.selectOption(choice)
      await expect.poll(() => rows.count()).toBe(count)
    }
    await page.getByRole('tab', { name: 'Store', exact: true }).click()
    const store = page.getByRole('region', { name: 'Store', exact: true })
    await expect.poll(() => store.getByRole('status').first().textContent()).toBe('1 key')
    await store.getByRole('combobox', { name: 'Database', exact: true }).selectOption('us')
    await expect.poll(() => store.getByRole('status').first().textContent()).toBe('2 keys')
    await expect.poll(() => page.url()).toMatch(/database=us&entries-of=%2F$/)
    const link = page.url()
    await page.goto('about:blank')
    await page.goto(link)
    await expect.poll(() => store.getByRole('status').first().textContent()).toBe('2 keys')
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => rows.count()).toBe(3)
    expect([complaints, await seriousFindings(page)]).toEqual([[], []])
    await page.context().close()
  })

  test('has no selection of databases if there is only one', async () => {
    const { page } = await open(browser, toHtml((await story()).traffic))
    await expect.poll(() => page.locator('.row[role=option]').count()).toBeGreaterThan(5)
    await page.getByRole('tab', { name: 'Store', exact: true }).click()
    await expect.poll(() => page.getByRole('region', { name: 'Store', exact: true }).count()).toBe(1)
    expect(await page.getByRole('combobox', { name: /Database|Entries of/ }).count()).toBe(0)
    await page.context().close()
  })

  test('narrows the list and the names of the lanes to a range that is dragged in the lanes', async () => {
    const sandbox = await story()
    const { page } = await open(browser, toHtml(sandbox.traffic))
    const lanes = page.locator('.axis-picture')
    const box = (await lanes.boundingBox())!
    const before = await page.getByRole('list', { name: 'Lanes' }).textContent()
    await page.mouse.move(box.x + box.width * 0.75, box.y + 90)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.999, box.y + 90, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => page.locator('#count').textContent()).toMatch(/^\d of \d+ entries$/)
    await expect.poll(() => page.getByRole('list', { name: 'Lanes' }).textContent()).not.toBe(before)
    const shown = await page.locator('.row[role=option]').allTextContents()
    expect(shown.some((line) => line.includes('SET stock'))).toBe(false)
    await page.getByRole('button', { name: 'Clear range' }).click()
    await expect.poll(() => page.getByRole('list', { name: 'Lanes' }).textContent()).toBe(before)
    // A click in a lane selects the entry there.
    await page.mouse.click(box.x + 3, box.y + 90)
    await expect.poll(() => page.locator('#detail-title').textContent()).toMatch(/^#\d+ /)
    await page.context().close()
  })

  test('shows dates where the day changes, waits with their reasons, and always the status', async () => {
    const long = `${orders}/${'a-part-of-a-path/'.repeat(12)}the-end`
    const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T23:00:00Z' })
    sandbox.destinations.respond(long, () => 503)
    sandbox.queue.publish({ to: long, retries: 1, delay: '2h' })
    await sandbox.clock.drain()
    const { page } = await open(browser, toHtml(sandbox.traffic))
    await page.setViewportSize({ width: 500, height: 900 })
    await expect.poll(() => page.locator('.row-day').allTextContents()).toEqual(['2030-01-01', '2030-01-02'])
    expect((await page.locator('.row-wait').allTextContents()).join('\n')).toMatch(
      /\b2h .*2030-01-02 01:00:00\.000.*as published.*\b12s .*01:00:12\.000.*back-?off/s,
    )
    const ends = page.locator('.row-end', { hasText: '503 Service' })
    // Two attempts and a dead letter.
    expect(await ends.count()).toBe(3)
    for (const end of await ends.all()) {
      const [inner, outer] = [(await end.boundingBox())!, (await page.locator('#list').boundingBox())!]
      expect(inner.x + inner.width).toBeLessThanOrEqual(outer.x + outer.width)
      expect(await end.evaluate((element) => element.scrollWidth <= element.clientWidth + 1)).toBe(true)
    }
    // The visible part of the URL is its end.
    const url = page.locator('.row-url', { hasText: 'the-end' }).first()
    const [text, room] = [(await url.locator('bdi').boundingBox())!, (await url.boundingBox())!]
    expect(text.width).toBeGreaterThan(room.width)
    expect(Math.abs(text.x + text.width - (room.x + room.width))).toBeLessThanOrEqual(2)
    await page.context().close()
  })

  test('keeps the colors that the reader has chosen', async () => {
    const { page } = await open(browser, toHtml((await story()).traffic))
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await page.getByRole('button', { name: 'Colors: system' }).click()
    await page.getByRole('button', { name: 'Colors: light' }).click()
    expect(await ground()).toBe('rgb(20, 24, 29)')
    const pixel = () =>
      page.evaluate(() => {
        const canvas = document.getElementById('axis') as HTMLCanvasElement
        return [...canvas.getContext('2d')!.getImageData(canvas.width - 40, 4, 1, 1).data].slice(0, 3)
      })
    await expect.poll(pixel).toEqual([20, 24, 29])
    await page.reload()
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true')
    expect(await ground()).toBe('rgb(20, 24, 29)')
    await page.context().close()
  })

  test('shows captured content as text', async () => {
    const sandbox = createSandbox()
    const evil =
      '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=2">\u2028alert(1)\u2029<!--<script>'
    sandbox.destinations.respond('https://shop.test/*', () => ({
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
    const failure = { message: `${evil}\u202e\x1b[31m` }
    const { page, complaints, requests } = await open(browser, toHtml(sandbox.traffic, { title: evil, failure }))
    for (const tab of ['Entry', 'Store', 'Queue', 'Time', 'Faults', 'Copy']) {
      await page.getByRole('tab', { name: tab, exact: true }).first().click()
      for (const option of await page.locator('.row[role=option]').all()) await option.click()
      for (const summary of await page.locator('#panel summary:visible').all()) await summary.click()
      for (const form of ['Hex', 'As text']) {
        for (const button of await page.getByRole('button', { name: form }).all()) await button.click()
      }
      await expect
        .poll(() => page.evaluate(() => document.querySelectorAll('#app :is(img, svg, b, script)').length))
        .toBe(0)
      expect([
        tab,
        /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test((await page.locator('#app').textContent())!),
      ]).toEqual([tab, false])
    }
    await expect.poll(() => page.evaluate(() => (window as { pwned?: unknown }).pwned)).toBeUndefined()
    await expect
      .poll(() => page.evaluate(() => ({}) as { polluted?: unknown }).then((value) => value.polluted))
      .toBeUndefined()
    expect([complaints, requests]).toEqual([[], []])
    await page.context().close()
  })

  test('draws only the visible lines of ten thousand entries, at any scroll position', async () => {
    const sandbox = createSandbox()
    sandbox.destinations.respond(orders, () => 200)
    for (let count = 0; count < 1500; count++) {
      sandbox.queue.publish({ to: orders, body: { id: count }, delay: `${1 + (count % 60)}s` })
    }
    await sandbox.clock.drain()
    while (sandbox.traffic.size < 10_000) sandbox.store.run('SET', `k${sandbox.traffic.size}`, 'v')
    const { page, complaints } = await open(browser, toHtml(sandbox.traffic))
    const drawn = () => page.locator('.row').count()
    expect(await drawn()).toBeLessThan(100)
    for (const part of [0.3, 0.77, 1]) {
      await page.locator('#list').evaluate((element, to) => element.scrollTo(0, element.scrollHeight * to), part)
      await expect
        .poll(async () => Number(await page.locator('.row[role=option]').last().getAttribute('aria-posinset')))
        .toBeGreaterThan(7_000 * part)
      expect(await drawn()).toBeLessThan(100)
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
