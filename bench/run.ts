// `npm run bench` measures all figures that take minutes; `--long` adds those that take an hour. `npm run bench --
// import store` selects figures whose file or name contains one of the arguments. It measures the build, as users get
// it. A figure without its peer on the machine is skipped.
import { readdirSync } from 'node:fs'
import { type Figure, measure } from './harness.ts'

type Make = () => Figure | undefined | Promise<Figure | undefined>

const given = process.argv.slice(2)
const isLong = given.includes('--long')
const words = given.filter((word) => word !== '--long')
const place = new URL('./figures/', import.meta.url)

const isAsked = (file: string, { name }: Make): boolean =>
  words.length === 0 || words.some((word) => file.includes(word) || name.includes(word))

const begun = performance.now()
const took: string[] = []
const leftOut: string[] = []
for (const file of readdirSync(place).sort()) {
  const { figures = [], long = [] } = (await import(new URL(file, place).href)) as {
    readonly figures?: readonly Make[]
    /** Figures that `--long` adds. */
    readonly long?: readonly Make[]
  }
  const asked = [...figures, ...(isLong ? long : [])].filter((make) => isAsked(file, make))
  if (!isLong) leftOut.push(...long.filter((make) => isAsked(file, make)).map(({ name }) => name))
  const start = performance.now()
  for (const make of asked) {
    const figure = await make()
    if (figure !== undefined) await measure(figure)
  }
  if (asked.length > 0) took.push(`${file.replace('.ts', '')} ${seconds(start)}`)
}
if (took.length === 0 && leftOut.length === 0) {
  console.error(`No figure has a file or a name with ${words.join(' or ')} in it.`)
  process.exit(1)
}
console.log(`\nTook ${seconds(begun)} s: ${took.join(', ')}.`)
if (leftOut.length > 0) console.log(`Left out without --long: ${leftOut.join(', ')}.`)
process.exit(0)

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0)
}
