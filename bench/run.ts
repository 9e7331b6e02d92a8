// `npm run bench` measures everything, `npm run bench -- import store` the figures whose file or name has one of the
// words. Measures the build, as users get it. A figure whose peer is not on the machine is left out.
import { readdirSync } from 'node:fs'
import { type Figure, measure } from './harness.ts'

const words = process.argv.slice(2)
const place = new URL('./figures/', import.meta.url)

for (const file of readdirSync(place).sort()) {
  const { figures } = (await import(new URL(file, place).href)) as {
    figures: readonly (() => Figure | undefined | Promise<Figure | undefined>)[]
  }
  for (const make of figures) {
    if (words.length > 0 && !words.some((word) => file.includes(word) || make.name.includes(word))) continue
    const figure = await make()
    if (figure !== undefined) await measure(figure)
  }
}
process.exit(0)
