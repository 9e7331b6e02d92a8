import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBrowser, launch } from '../../../../test/report/page.js'
import { type StuntdoubleServer, startServer } from '../../../server/src/server.js'
import { openPage } from './page.js'

// The panels of the store on a server whose sandboxes have several databases.

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

describe.runIf(hasBrowser)('the panels with several databases', () => {
  let browser: Browser
  let server: StuntdoubleServer
  beforeAll(async () => {
    ;[browser, server] = await Promise.all([
      launch(),
      startServer({ port: 0, clock: 'manual', databases: ['eu', 'us'], onError: () => {} }),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  test('show and change the selected database', async () => {
    const main = server.tenant('main')
    main.store.run('SET', 'a', 'first')
    main.storeIn('us').run('SET', 'a', 'second')
    const { page, panel, complaints } = await openPage(browser, `${server.origin}/`)
    const store = await panel('Store')
    await store.getByText('1 key', { exact: true }).waitFor()
    await store.getByRole('combobox', { name: 'Database' }).selectOption('us')
    await store.getByRole('button', { name: /^a string/ }).click()
    await expect.poll(() => store.getByRole('textbox', { name: 'Value' }).textContent()).toBe('second')
    await store.getByText('New key').click()
    await store.getByLabel('Name of the new key').fill('fresh')
    await store.getByLabel('First value of the new key').fill('one')
    await store.getByRole('button', { name: 'Create' }).click()
    await expect.poll(() => main.storeIn('us').get('fresh')).toBe('one')
    await store.getByText('2 keys', { exact: true }).waitFor()
    expect(main.store.get('fresh')).toBeNull()

    const console = await panel('Console')
    const prompt = console.getByRole('textbox', { name: 'Command' })
    await prompt.fill('GET a')
    await prompt.press('Enter')
    await console.getByText('"second"').waitFor()
    await console.getByText('us> GET a', { exact: true }).waitFor()
    await console.getByRole('combobox', { name: 'Database' }).selectOption('')
    await prompt.fill('GET a')
    await prompt.press('Enter')
    await console.getByText('"first"').waitFor()
    // The page follows later changes of each database.
    main.storeIn('eu').run('SET', 'later', 1)
    await (await panel('Store')).getByRole('combobox', { name: 'Database' }).selectOption('eu')
    await store.getByText('1 key', { exact: true }).waitFor()
    expect(complaints).toEqual([])
    await page.close()
  })

  test('compare all databases of two sandboxes', async () => {
    server.tenant('main').storeIn('us').run('SET', 'only', 'in main')
    server.tenant('second').storeIn('us').run('SET', 'only', 'in second')
    const { page, panel, complaints } = await openPage(browser, `${server.origin}/`)
    const tenants = await panel('Tenants')
    await tenants.getByRole('button', { name: 'Compare with second' }).click()
    await tenants.getByText('in database us').first().waitFor()
    expect(complaints).toEqual([])
    await page.close()
  })
})
