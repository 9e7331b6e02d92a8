import type { Page } from '@playwright/test'
import type { RunningServer } from '../../../src/server/server.js'
import { differenceOf, type StoreDump } from '../../../src/store/dump/snapshot.js'
import type { StoredChange } from '../../../src/store/history/stored-change.js'

// Orders that another part of the server brings: where it is not there yet, the page is answered by these.

export async function standIn(page: Page, server: RunningServer): Promise<void> {
  const told = new Map<string, { dump: StoreDump; changes: StoredChange[] }>()
  const changesOf = (tenant: string): StoredChange[] => {
    const { store, traffic, clock } = server.tenant(tenant)
    const known = told.get(tenant) ?? { dump: { format: 'stuntdouble/store', version: 1, keys: [] }, changes: [] }
    told.set(tenant, known)
    const [seq, at, dump] = [Number(traffic.mark()), clock.now(), store.dump()]
    const { added, removed, changed } = differenceOf(known.dump, dump)
    for (const now of [...added, ...changed.map(({ after }) => after)])
      known.changes.push({ seq, at, key: now.key, now })
    for (const { key } of removed) known.changes.push({ seq, at, key })
    known.dump = dump
    return known.changes
  }
  const orders: Readonly<Record<string, (tenant: string, query: URLSearchParams, body: () => Loose) => unknown>> = {
    'GET /store/changes': (tenant, query) => changesOf(tenant).filter(({ seq }) => seq > Number(query.get('after'))),
    'GET /store/commands': () => [
      { name: 'GET', usage: 'GET key', summary: 'The value of a key.', group: 'string', flags: ['readonly'] },
      { name: 'GETDEL', usage: 'GETDEL key', summary: 'Takes a value out.', group: 'string', flags: ['write'] },
      {
        name: 'LRANGE',
        usage: 'LRANGE key start stop',
        summary: 'Part of a list.',
        group: 'list',
        flags: ['readonly'],
      },
    ],
    'GET /faults/catalog': () => [
      { kind: 'lost-ack', summary: 'Its answer is lost.', points: ['queue.delivery', 'queue.callback'], fields: [] },
      {
        kind: 'status',
        summary: 'Answers with a status.',
        points: ['queue.delivery', 'store.request'],
        fields: [{ name: 'status', type: 'number' }],
      },
    ],
    'POST /clock/step': async (tenant) => {
      const { clock } = server.tenant(tenant)
      const [next] = clock.pending()
      if (next !== undefined) await clock.advanceTo(next.at)
      return { milliseconds: clock.now() }
    },
    'POST /fork': (_tenant, _query, body) => {
      const { name = 'fork', at } = body()
      server.tenant(name).store.run('SET', 'forked:at', at)
      return { tenant: name }
    },
  }
  await page.route('**/_control/**', async (route) => {
    const request = route.request()
    const { pathname, searchParams } = new URL(request.url())
    const [, , tenant = '', ...rest] = pathname.split('/')
    const order = orders[`${request.method()} /${rest.join('/')}`]
    if (order === undefined) return route.fallback()
    const answer = await route.fetch()
    if (answer.ok() || !/has no|takes/.test(await answer.text())) return route.fulfill({ response: answer })
    return route.fulfill({ json: await order(decodeURIComponent(tenant), searchParams, () => request.postDataJSON()) })
  })
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes
type Loose = any
