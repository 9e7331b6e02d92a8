import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '../../../src/server/server.js'
import { hasBrowser, launch } from '../../report/page.js'
import { type OpenedPanels, openPanels } from './page.js'
import { standIn } from './stand-ins.js'
import { shopServer } from './world.js'

describe.runIf(hasBrowser)('the panels, against a real server', () => {
  let browser: Browser
  let server: RunningServer
  let opened: OpenedPanels
  beforeAll(async () => {
    ;[browser, server] = await Promise.all([launch(), shopServer()])
    opened = await openPanels(browser, server.origin, '', (page) => standIn(page, server))
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })
  const panel = (name: string) => opened.page.getByRole('region', { name, exact: true })

  test('the store: tree, value, editor', async () => {
    const store = panel('Store')
    await store.getByText('user:', { exact: true }).click()
    await store.getByRole('button', { name: /^1 hash/ }).click()
    const name = store.getByLabel('value of name')
    await name.fill('Ada Lovelace')
    await name.press('Enter')
    await expect.poll(() => server.tenant('main').store.run('HGET', 'user:1', 'name')).toBe('Ada Lovelace')
    await opened.page.screenshot({ path: '/tmp/panels.png', fullPage: true })
  })

  test('nothing was complained about', () => {
    expect(opened.complaints).toEqual([])
  })
})
