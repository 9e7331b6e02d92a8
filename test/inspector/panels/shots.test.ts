import { test } from 'vitest'
import { launch } from '../../report/page.js'
import { openPage } from './page.js'
import { standIn } from './stand-ins.js'
import { shopServer } from './world.js'
test('shots', async () => {
  const [browser, server] = await Promise.all([launch(), shopServer()])
  const { page, panel } = await openPage(browser, `${server.origin}/`, (page) => standIn(page, server))
  for (const name of ['Store', 'Console', 'Queue', 'Time', 'Faults', 'Tenants']) {
    const p = await panel(name)
    if (name === 'Store') { await p.getByText('user:', { exact: true }).click(); await p.getByRole('button', { name: /^1 hash/ }).click() }
    if (name === 'Queue') { await p.getByRole('tab', { name: /Schedules/ }).click() }
    if (name === 'Tenants') { await p.getByRole('button', { name: 'Compare with second' }).click() }
    await page.waitForTimeout(300)
    await page.setViewportSize({ width: 1400, height: 900 })
    await page.screenshot({ path: `/tmp/shot-${name}.png` })
    await page.setViewportSize({ width: 375, height: 900 })
    await page.waitForTimeout(100)
    await page.getByRole('tabpanel', { name }).screenshot({ path: `/tmp/narrow-${name}.png` })
  }
  await browser.close(); await server.close()
}, 60000)
