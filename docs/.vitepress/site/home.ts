import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { examples, playHere } from './bundle.ts'
import { pages } from './places.ts'

/**
 * Writes a failing test and its output into the start page.
 * @param core file of the module that the playground runs
 */
export async function writeHome(core: string): Promise<void> {
  const code = examples().get('charged-twice')!
  const message = await playHere(code, core)
  const test = message.kind === 'played' ? message.tests[0] : undefined
  if (test?.failure === undefined) {
    throw new Error('The example charged-twice passed. It must fail, because the start page shows its failure.')
  }
  const output = `${test.failure}\n\n${test.rows.map(({ text }) => text).join('\n')}`
  const file = join(pages, 'index.md')
  const page = readFileSync(file, 'utf8')
    .replace('<!-- the test -->', () => `\`\`\`js\n${code}\`\`\``)
    .replace('<!-- the output -->', () => `\`\`\`text\n${output}\n\`\`\``)
  writeFileSync(file, page)
}
