// `npm run bench` measures all figures that take minutes; `--long` adds those that take an hour. `npm run bench --
// import store` selects figures whose file or name contains one of the arguments. It measures the build, as users get
// it. A figure without its peer on the machine is skipped. `--write` renews the rows of the measured figures in the
// table of docs/decisions/speed.md. `--runs=5` measures each figure five times; the table then has the medians.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Figure, type Measured, measure } from './harness.ts'
import { withTable } from './table.ts'

type Make = () => Figure | undefined | Promise<Figure | undefined>

const given = process.argv.slice(2)
const isLong = given.includes('--long')
const runs = Number(given.find((word) => word.startsWith('--runs='))?.slice('--runs='.length) ?? 1)
const words = given.filter((word) => !word.startsWith('--'))
const place = new URL('./figures/', import.meta.url)

const isAsked = (file: string, { name }: Make): boolean =>
  words.length === 0 || words.some((word) => file.includes(word) || name.includes(word))

const begun = performance.now()
const took: string[] = []
const leftOut: string[] = []
const skipped: string[] = []
const measured: Measured[] = []
const files = readdirSync(place).sort()
for (const file of files) {
  const { figures = [], long = [] } = (await import(new URL(file, place).href)) as {
    readonly figures?: readonly Make[]
    /** Figures that `--long` adds. */
    readonly long?: readonly Make[]
  }
  const asked = [...figures, ...(isLong ? long : [])].filter((make) => isAsked(file, make))
  if (!isLong) leftOut.push(...long.filter((make) => isAsked(file, make)).map(({ name }) => name))
  const start = performance.now()
  for (const make of asked) {
    for (let run = 0; run < runs; run++) {
      const figure = await make()
      if (figure !== undefined) measured.push(...(await measure(figure, wordOf(file))))
      else if (!skipped.includes(wordOf(file))) skipped.push(wordOf(file))
    }
  }
  if (asked.length > 0) took.push(`${wordOf(file)} ${seconds(start)}`)
}
if (took.length === 0 && leftOut.length === 0) {
  console.error(`No figure has a file or a name with ${words.join(' or ')} in it.`)
  process.exit(1)
}
console.log(`\nTook ${seconds(begun)} s: ${took.join(', ')}.`)
if (leftOut.length > 0) console.log(`Left out without --long: ${leftOut.join(', ')}.`)
if (skipped.length > 0)
  console.log(`Skipped figures whose program or peer is not on this machine: ${skipped.join(', ')}.`)
if (given.includes('--write')) {
  const page = new URL('../docs/decisions/speed.md', import.meta.url)
  const on = { node: process.version, date: new Date().toISOString().slice(0, 10) }
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), files.map(wordOf), measured, on))
}
process.exit(0)

function wordOf(file: string): string {
  return file.replace('.ts', '')
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0)
}
