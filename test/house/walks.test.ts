import { expect, test } from 'vitest'
import { type Walk, walked } from '../support/walk.js'

// Counts the files that a reader must open: the files of src with calls on the way of one message to its dead
// letter and failure callback, and of one SET over fetch. Files of the kernel are counted separately: they are tools such
// as bytes and heaps, which a reader knows by name. The goal for both walks is 20 files. Each value is checked only
// once.

const world = `
const sandbox = lib.createSandbox({ seed: 'walk', onWarning: () => {} })
const { destinations, clock, urls, tokens } = sandbox
destinations.respond('https://shop.test/orders', 500)
destinations.respond('https://shop.test/failed', 200)
const post = (url, body, token, headers) =>
  sandbox.fetch(url, { method: 'POST', body, headers: { authorization: 'Bearer ' + token, ...headers } })
const publishAt = urls.queue + '/v2/publish/https://shop.test/orders'
const { queue, store } = tokens
`

/** Two attempts, a dead letter, and the attempt of the callback. */
const message = `
await post(publishAt, 'x', queue, { 'service-retries': '1', 'service-failure-callback': 'https://shop.test/failed' })
await clock.drain()
`

const set = `await post(urls.store, '["SET","k","v","EX","10"]', store)`

interface Bounds {
  /** Files outside of the kernel. */
  readonly files: number
  readonly kernel: number
  /** Maximum calls of functions that check or look up values. */
  readonly calls: Readonly<Record<string, number>>
}

function excess({ files }: Walk, bounds: Bounds): string[] {
  const tools = [...files.keys()].filter((file) => file.startsWith('src/kernel/')).length
  const walked = files.size - tools
  const isTooFar = walked > bounds.files || tools > bounds.kernel
  const found = isTooFar ? [`${walked} files, and ${tools} of the kernel:\n${shown(files)}`] : []
  for (const [name, most] of Object.entries(bounds.calls)) {
    const calls = [...files].map(([file, names]) => [file, names.get(name) ?? 0] as const)
    const sum = calls.reduce((so, [, count]) => so + count, 0)
    if (sum > most) found.push(`${name} ${sum} times, not ${most}: ${calls.filter(([, count]) => count > 0).join(' ')}`)
  }
  return found
}

function shown(files: Walk['files']): string {
  return [...files].map(([file, names]) => `${file}: ${[...names.keys()].join(', ')}`).join('\n')
}

test('a message to its dead letter and failure callback', async () => {
  const walk = await walked(world, message)
  // Checks that this is the walk: three attempts with that of the callback, one dead letter, one request.
  expect(walk.files.get('src/queue/delivery/callbacks-and-dead-letters.ts')?.get('add')).toBe(1)
  expect(walk.files.get('src/queue/destinations/destinations.ts')?.get('deliver')).toBe(3)
  expect(
    // The last of them are the book of counts that both usage statistics share, and the two that create a queue when it
    // is first used.
    excess(walk, {
      files: 24,
      kernel: 24,
      calls: { isUrl: 1, checkUrl: 1, readTarget: 1, failureText: 3, tokenOf: 1 },
    }),
  ).toEqual([])
})

test('SET k v EX 10 over fetch', async () => {
  const walk = await walked(world, set)
  expect(walk.files.get('src/store/store-engine.ts')?.get('execute')).toBe(1)
  expect(
    // Two of them count the usage of the data store: its ledger, and the book of counts. One finds the service.
    excess(walk, {
      files: 23,
      kernel: 14,
      calls: { sizeOfWords: 1, sizeOfReply: 1, tokenOf: 1, userOf: 1, lookup: 1, find: 1, argvOfJson: 1 },
    }),
  ).toEqual([])
})

test('the check detects a walk that is too long or checks a value twice', async () => {
  const files = new Map([['src/a.ts', new Map([['isUrl', 2]])]])
  expect(excess({ files, calls: 2 }, { files: 0, kernel: 0, calls: { isUrl: 1 } })).toHaveLength(2)
  expect(excess({ files, calls: 2 }, { files: 1, kernel: 0, calls: { isUrl: 2 } })).toEqual([])
})
