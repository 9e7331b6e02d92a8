import { readFileSync } from 'node:fs'
import type { Browser, Locator } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox } from '../../../../src/index.js'
import { hasBrowser, launch } from '../../../../test/report/page.js'
import type { StuntdoubleServer } from '../../../server/src/server.js'
import { inspectorPage } from '../../src/page.js'
import { type OpenedPage, openPage } from './page.js'
import { shopServer } from './world.js'

const axe = readFileSync(new URL('../../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

const panels = ['Store', 'Console', 'Queue', 'Time', 'Faults', 'Tenants']

describe.runIf(hasBrowser)('the panels with a real server', () => {
  let browser: Browser
  let server: StuntdoubleServer
  let opened: OpenedPage
  beforeAll(async () => {
    ;[browser, server] = await Promise.all([launch(), shopServer()])
    opened = await openPage(browser, `${server.origin}/`)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })
  const panel = (name: string): Promise<Locator> => opened.panel(name)
  const button = (within: Locator, name: string | RegExp): Locator => within.getByRole('button', { name })
  const main = () => server.tenant('main')
  const run = (...words: (string | number)[]) => main().store.run(...words)
  const tab = async (name: RegExp): Promise<void> => (await panel('Queue')).getByRole('tab', { name }).click()

  test('change, add and remove a row of a hash', async () => {
    const store = await panel('Store')
    await store.getByText('user:', { exact: true }).click()
    await button(store, /^1 hash/).click()
    const name = store.getByLabel('value of name')
    await name.fill('Ada Lovelace')
    await name.press('Enter')
    await expect.poll(() => run('HGET', 'user:1', 'name')).toBe('Ada Lovelace')
    await store.getByLabel('New field').fill('city')
    await store.getByLabel('New value').fill('London')
    await store.getByLabel('New value').press('Enter')
    await expect.poll(() => run('HGET', 'user:1', 'city')).toBe('London')
    await button(store, 'Remove mail').click()
    await expect.poll(() => run('HEXISTS', 'user:1', 'mail')).toBe(0)
    await store.getByRole('region', { name: 'Difference' }).getByText('changed', { exact: true }).waitFor()
  })

  test('edit a document with colors, which the content-security policy allows', async () => {
    const store = await panel('Store')
    await button(store, /^config json/).click()
    const editor = store.getByRole('textbox', { name: 'Value' })
    await store.locator('.cm-content').waitFor()
    await editor.fill('{"dark":false}')
    await button(store, 'Save').click()
    await expect.poll(() => run('JSON.GET', 'config', '$.dark')).toBe('[false]')
  })

  test('show an expiration on the virtual clock, and set it', async () => {
    const store = await panel('Store')
    await button(store, /^greeting string/).click()
    await store.getByText('in 58m59s').waitFor()
    await store.getByLabel('Seconds until the key expires, or empty for never').fill('120')
    await button(store, 'Expire in seconds').click()
    await expect.poll(() => run('TTL', 'greeting')).toBe(120)
    await store.getByRole('article').getByText('in 2m').waitFor()
  })

  test('create a key, and delete it after a second press', async () => {
    const store = await panel('Store')
    await store.getByText('New key').click()
    await store.getByLabel('Name of the new key').fill('fresh')
    await store.getByLabel('Type of the new key').selectOption('list')
    await store.getByLabel('First value of the new key').fill('one')
    await button(store, 'Create').click()
    await expect.poll(() => run('LRANGE', 'fresh', 0, -1)).toEqual(['one'])
    await button(store, 'Delete key').click()
    expect(run('EXISTS', 'fresh')).toBe(1)
    await button(store, 'Really delete').click()
    await expect.poll(() => run('EXISTS', 'fresh')).toBe(0)
  })

  test('show a hostile key and value as text', async () => {
    const store = await panel('Store')
    await store.getByText('hostile:', { exact: true }).click()
    await button(store, /img src=x/).click()
    await store.getByText('<script>alert(1)</script>').first().waitFor()
  })

  test('complete, run, recall and reject commands in the console', async () => {
    const console = await panel('Console')
    const prompt = console.getByRole('textbox', { name: 'Command' })
    await prompt.fill('lran')
    await prompt.press('Tab')
    await expect.poll(() => prompt.inputValue()).toBe('LRANGE ')
    await console.getByText(/LRANGE key/).waitFor()
    await prompt.fill('LRANGE cart:1 0 -1')
    await prompt.press('Enter')
    await console.getByText('1) "apple"\n2) "pear"').waitFor()
    await prompt.press('ArrowUp')
    await expect.poll(() => prompt.inputValue()).toBe('LRANGE cart:1 0 -1')
    await prompt.fill('INCR cart:1')
    await prompt.press('Enter')
    await console.getByText(/\(error\) WRONGTYPE/).waitFor()
  })

  test('show why a message waits, and deliver it now', async () => {
    const queue = await panel('Queue')
    await button(queue, 'https://shop.test/broken').click()
    await queue.getByText(/retry 1 of 3/).waitFor()
    const before = main().traffic.ofType('attempt').length
    await button(queue, 'Deliver now').click()
    await expect
      .poll(() =>
        main()
          .clock.advance(0)
          .then(() => main().traffic.ofType('attempt').length),
      )
      .toBe(before + 1)
    await queue.getByText('queue slow is paused').waitFor()
  })

  test('retry a dead letter, and mark it as removed', async () => {
    const queue = await panel('Queue')
    await tab(/Dead letters/)
    // The text of its status occurs once.
    await queue
      .getByText(/410 Gone/)
      .first()
      .waitFor()
    expect(await queue.textContent()).not.toMatch(/\b(\d{3}) \1\b/)
    await button(queue, /^Retry/)
      .first()
      .click()
    await expect.poll(() => main().queue.deadLetters.length).toBe(2)
    await queue.getByText('removed').waitFor()
  })

  test('move between tabs by arrow keys, and show the fire times of a schedule on a calendar', async () => {
    const queue = await panel('Queue')
    await queue.getByRole('tab', { name: /Dead letters/ }).press('ArrowRight')
    await queue.getByText('0 3 * * *').waitFor()
    await queue.getByRole('table').getByText('03:00').first().waitFor()
    await button(queue, 'Month after').click()
    await queue.getByText('2030-02', { exact: true }).waitFor()
    await expect.poll(() => queue.getByRole('table').getByText('03:00').count()).toBe(28)
    await button(queue, 'Fire nightly now').click()
    await queue.getByText('Fired 1 time').waitFor()
  })

  test('show runs, groups, flow control and FIFO queues', async () => {
    const queue = await panel('Queue')
    await tab(/Runs/)
    await queue.getByText('for event approved until').waitFor()
    await tab(/Groups/)
    await queue.getByText('https://north.test/stock').waitFor()
    await tab(/Flow control/)
    await queue.getByText(/4 held/).waitFor()
    await queue.getByText('Explain').click()
    await queue.getByText(/it allows 1 call in 3600 s/).waitFor()
    await tab(/^FIFO queues 1$/)
    await button(queue, 'Resume slow').click()
    await button(queue, 'Pause slow').waitFor()
  })

  test('step, advance and play time', async () => {
    const time = await panel('Time')
    const { clock } = main()
    await clock.advance(0)
    const [next] = clock.pending
    await button(time, 'Step to the next event').click()
    await expect.poll(() => clock.now()).toBe(next!.at)
    await time.getByLabel('How long: 90s, 5m, 1d').fill('90s')
    await button(time, 'Advance').click()
    await expect.poll(() => clock.now()).toBe(next!.at + 90_000)
    await time.getByLabel('How long: 90s, 5m, 1d').fill('soon')
    await button(time, 'Advance').click()
    await time.getByText(/must be a duration/).waitFor()
    await button(time, '60×').click()
    await expect.poll(() => clock.now()).toBeGreaterThan(next!.at + 100_000)
    await button(time, 'Pause').click()
    await opened.page.waitForTimeout(100)
    const paused = clock.now()
    await opened.page.waitForTimeout(200)
    expect(clock.now()).toBe(paused)
  })

  test('open an earlier instant, read-only', async () => {
    const time = await panel('Time')
    await time.getByRole('textbox', { name: /^Instant/ }).fill('2030-01-01 00:00:22')
    await button(time, 'Open').click()
    await time.getByText(/^2030-01-01 00:00:22 is shown; the time now is 2030/).waitFor()
    const came = time.locator('ol.pn-list')
    await came
      .getByText(/^2030-01-01 00:00:23 in 1s delivery of msg_\w+ to https:\/\/shop.test\/orders/)
      .first()
      .waitFor()
    expect(await came.getByText(/ ago/).count()).toBe(0)
    expect(await button(time, 'Advance').count()).toBe(0)
    const store = await panel('Store')
    await store.getByText('as of 2030-01-01 00:00:22').waitFor()
    expect(await button(store, 'Delete key').count()).toBe(0)
    expect(await store.getByLabel('New field').count()).toBe(0)
    expect(await store.getByText('New key').count()).toBe(0)
    const queue = await panel('Queue')
    await queue.getByText('as of 2030-01-01 00:00:22').waitFor()
    expect(await button(queue, /^Pause|^Resume/).count()).toBe(0)
    await panel('Store')
    await button(store, 'Now').click()
    await store.getByText('as it is now').waitFor()
  })

  test('show the selected one of several entries at one instant', async () => {
    const [, second] = main().traffic.ofType('command')
    await opened.page.evaluate((seq) => {
      location.hash = `entry=${seq}&tab=Store`
    }, second!.seq)
    const store = await panel('Store')
    await button(store, `At #${second!.seq}`).click()
    await store.getByText(`behind #${second!.seq}`).waitFor()
    await store.getByRole('region', { name: 'Difference' }).getByText(`#${second!.seq}`).waitFor()
    await button(store, 'Now').click()
  })

  test('show what has changed between two instants', async () => {
    const difference = (await panel('Store')).getByRole('region', { name: 'Difference' })
    await button(difference, 'Compare from here').click()
    run('SET', 'later', 'x')
    await difference.getByText('later', { exact: true }).waitFor()
    run('SADD', 'tags', 'blue')
    await difference.getByText('tags', { exact: true }).waitFor()
    expect(await difference.locator('li').count()).toBe(2)
    await button(difference, 'Remove the mark').click()
    expect(await difference.locator('li').count()).toBe(1)
    const time = await panel('Time')
    await time.getByRole('textbox', { name: /^Instant/ }).fill('-1d')
    await button(time, 'Open').click()
    await time.getByText(/The log begins at/).waitFor()
  })

  test('inject a fault into the next attempt of a message, and count the injections of rules', async () => {
    const faults = await panel('Faults')
    const [message] = main().queue.messages.filter(({ url }) => url.endsWith('/orders'))
    const seq = main().traffic.forMessage(message!.id)[0]!.seq
    await opened.page.evaluate((seq) => {
      location.hash = `entry=${seq}&tab=Faults`
    }, seq)
    await faults.getByRole('combobox', { name: /^Inject/ }).selectOption({ label: 'the next attempt of this message' })
    await faults.getByLabel('with').selectOption('status')
    // The catalog is written in Markdown.
    await faults.locator('code', { hasText: /^body$/ }).waitFor()
    expect(await faults.textContent()).not.toContain('`')
    await faults.getByLabel('status', { exact: true }).fill('503')
    await button(faults, 'Inject here').click()
    await faults.getByText('injected 0 of 1 times').waitFor()
    await faults
      .getByText(/never injected/)
      .first()
      .waitFor()
    main().queue.deliverNow(message!.id)
    await main().clock.advance(0)
    const attempts = main().traffic.forMessage(message!.id)
    expect(attempts).toContainEqual(expect.objectContaining({ outcome: expect.objectContaining({ status: 503 }) }))
    await expect.poll(() => faults.getByText('injected 1 of 1 times').count()).toBe(2)
    await button(faults, 'Remove never met').click()
    await expect.poll(() => main().faults.rules.length).toBe(3)
  })

  test('fork into a separate tenant; compare, export, import and reset tenants', async () => {
    const time = await panel('Time')
    await time.getByLabel('Name of the new tenant').fill('what-if')
    await button(time, 'Fork from here').click()
    await opened.page.getByRole('heading', { name: 'what-if' }).waitFor()
    const tenants = await panel('Tenants')
    await tenants
      .getByRole('button', { name: 'what-if', exact: true })
      .and(opened.page.locator('[aria-current=true]'))
      .waitFor()
    await button(tenants, 'Compare with second').click()
    await tenants.getByText('only in second').waitFor()
    const [download] = await Promise.all([
      opened.page.waitForEvent('download'),
      button(tenants, 'Export to a file').click(),
    ])
    const file = await download.path()
    server.tenant('what-if').store.run('SET', 'after', 'export')
    await tenants.getByLabel('Import a file').setInputFiles(file)
    await tenants.getByText(/replaces everything in what-if/).waitFor()
    await button(tenants, 'Keep it').click()
    expect(await tenants.getByText(/replaces everything/).count()).toBe(0)
    expect(server.tenant('what-if').store.run('EXISTS', 'after')).toBe(1)
    await tenants.getByLabel('Import a file').setInputFiles(file)
    await button(tenants, 'Replace it').click()
    await expect.poll(() => server.tenant('what-if').store.run('EXISTS', 'after')).toBe(0)
    await button(tenants, 'Reset').click()
    await button(tenants, 'Really delete everything').click()
    await expect.poll(() => server.tenant('what-if').store.dump().keys).toEqual([])
    await button(tenants, /^main/).click()
    await (await panel('Store')).getByText('config').first().waitFor()
  })

  test('keep tabs within the edge, and only the dots at the beginning of a row', async () => {
    const { page } = opened
    await page.setViewportSize({ width: 1280, height: 800 })
    await panel('Entry')
    const room = await page.evaluate(() => {
      const tabs = [...document.querySelectorAll('.tabs [role=tab]')].map((tab) => tab.getBoundingClientRect())
      return [innerWidth - Math.max(...tabs.map(({ right }) => right)), new Set(tabs.map(({ top }) => top)).size]
    })
    expect(room[0]).toBeGreaterThanOrEqual(14)
    expect(room[1]).toBe(1)
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll('.row-head')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent }) => textContent),
    )
    expect(cut.filter((text) => text?.includes('…'))).toEqual([])
    await page.setViewportSize({ width: 1400, height: 900 })
  })

  test('are not wider than a phone', async () => {
    const { page } = opened
    await page.setViewportSize({ width: 375, height: 800 })
    for (const name of panels) {
      await panel(name)
      expect([name, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([name, 375])
    }
    await page.setViewportSize({ width: 1400, height: 900 })
  })

  test('have no findings of axe, and enough contrast in dark mode', async () => {
    const { page } = opened
    await page.evaluate(axe)
    for (const name of panels) {
      await panel(name)
      for (const [colorScheme, only] of [
        ['light', {}],
        ['dark', { runOnly: ['color-contrast'] }],
      ] as const) {
        await page.emulateMedia({ colorScheme })
        const violations = await page.evaluate(
          async (options) => {
            const { axe } = globalThis as Loose
            return (await axe.run(document.getElementById('panel'), options)).violations
          },
          { ...only, resultTypes: ['violations'] },
        )
        expect(violations.map(({ id, nodes }: Loose) => [name, colorScheme, id, nodes[0].html])).toEqual([])
      }
    }
  })

  test('caused no errors', () => {
    expect(opened.complaints).toEqual([])
  })
})

describe.runIf(hasBrowser)('the panels of a recording', () => {
  test('show data without controls that change a sandbox', async () => {
    const [browser, server] = await Promise.all([launch(), shopServer()])
    try {
      const trace = server.tenant('main').traffic.toTrace()
      const now = { key: 'config', type: 'json', value: '{"dark":true}' } as const
      const changes = [{ seq: 1, at: trace.entries[0]!.at, key: 'config', now }]
      const { html } = inspectorPage({ trace, changes, title: 'A trace' })
      const { page, panel, complaints } = await openPage(browser, 'https://trace.test/', (page) =>
        page.route('https://trace.test/', (route) =>
          route.fulfill({ contentType: 'text/html; charset=utf-8', body: html }),
        ),
      )
      await panel('Store')
      await page.getByText('1 key', { exact: true }).waitFor()
      await page.getByRole('button', { name: /^config json/ }).click()
      await page.getByText('"dark": true').waitFor()
      await panel('Queue')
      await page.getByRole('tab', { name: /Messages 207/ }).waitFor()
      const texts: string[] = []
      for (const name of ['Store', 'Queue', 'Time', 'Faults'])
        texts.push(...(await (await panel(name)).getByRole('button').allTextContents()))
      expect(texts.length).toBeGreaterThan(40)
      const commands = /Save|Delete|Retry|Advance|Drain|Step|Fork|Inject|Reset|Export|Pause|Fire|Create|Deliver|Cancel/
      expect(texts.filter((text) => commands.test(text))).toEqual([])
      await expect.poll(() => page.getByRole('tab', { name: 'Console' }).count()).toBe(0)
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
      await server.close()
    }
  })
})

test.runIf(hasBrowser)(
  'show the data of a loaded state that has no entries in the log',
  async () => {
    const [browser, server] = await Promise.all([launch(), shopServer()])
    try {
      using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
      sandbox.destinations.respond('https://shop.test/broken', 500)
      sandbox.queue.publish({ to: 'https://shop.test/broken', retries: 0 })
      sandbox.queue.publish({ to: 'https://shop.test/later', delay: '2d' })
      await sandbox.clock.advance('1s')
      const { page, panel, complaints } = await openPage(browser, `${server.origin}/#tenant=filled`)
      const shown = await panel('Queue')
      server.tenant('filled').load(sandbox.dump())
      await shown.getByText('Messages older than the log: 2', { exact: true }).waitFor()
      await shown.getByText('waits for its first attempt', { exact: true }).waitFor()
      await shown.getByText('https://shop.test/broken', { exact: true }).waitFor()
      server.tenant('filled').queue.publish({ to: 'https://shop.test/new' })
      await page.getByRole('tab', { name: /Messages 1/ }).waitFor()
      expect(await shown.getByText(/^Messages older than the log/).textContent()).toBe('Messages older than the log: 2')
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
      await server.close()
    }
  },
  60_000,
)

// biome-ignore lint/suspicious/noExplicitAny: properties of the page
type Loose = any
