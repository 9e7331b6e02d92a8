import { readdirSync, readFileSync } from 'node:fs'
import type { Sandbox } from 'stuntdouble'
import { type RunHistory, replay } from 'stuntdouble/checks'
import { expect, test } from 'vitest'

const folder = new URL('./histories/', import.meta.url)

test.each(readdirSync(folder))('%s continues with the current code', async (name) => {
  const history = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RunHistory
  const app = async ({ destinations }: Sandbox) => destinations.on(history.url, (await import('./route.js')).POST)
  expect((await replay(history, app)).incompatible).toEqual([])
})
