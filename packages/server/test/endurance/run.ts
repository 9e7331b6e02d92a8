// `npm run test:endurance`: full endurance tests of a server. It prints its numbers and exits with 1 if one is bad.
import { attacked } from './attacks.js'
import { built } from './built.js'
import { crowd } from './crowd.js'
import { damages } from './damages.js'
import { kills } from './kills.js'
import { malformed } from './malformed.js'

const words = process.argv.slice(2)
const place = await built()
const maxGrown = 8_000_000
let bad = 0

async function told(name: string, work: () => Promise<{ readonly wrong: readonly string[] }>): Promise<void> {
  if (words.length > 0 && words[0] !== name) return
  const begun = performance.now()
  const { wrong, ...figures } = await work()
  console.log(`${name}  ${Math.round((performance.now() - begun) / 1000)} s  ${JSON.stringify(figures)}`)
  for (const sentence of wrong.slice(0, 60)) console.log(`  ✗ ${sentence}`)
  if (wrong.length > 0) bad++
}

await told('crowd', () => crowd({ tenants: 50, connections: 200, milliseconds: 60_000 }))
await told('kills', () => kills(200, place))
await told('malformed', async () => {
  const outcome = await malformed(100_000, place)
  const grown = outcome.heap[1] - outcome.heap[0]
  return grown > maxGrown ? { ...outcome, wrong: [...outcome.wrong, `the heap has grown by ${grown} bytes`] } : outcome
})
await told('damages', () => damages(300, place))
await told('attacks', async () => {
  const { slow, wrong, ...figures } = await attacked(place, {
    names: words.slice(1),
    told: (line) => console.log(line),
  })
  return { ...figures, wrong: [...wrong, ...slow] }
})
place[Symbol.dispose]()
process.exit(bad === 0 ? 0 : 1)
