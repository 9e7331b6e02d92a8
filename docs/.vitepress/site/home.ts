import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { examples, playHere } from './bundle.ts'
import { pages } from './places.ts'

/**
 * Puts a failing test and what it really prints into the start page.
 * @param core the module that the playground runs
 */
export async function writeHome(core: string): Promise<void> {
  const code = examples().get('charged-twice')!
  const said = await playHere(code, core)
  const told = said.kind === 'played' ? said.tests[0] : undefined
  if (told?.failure === undefined) throw new Error('The test of the start page shall fail, and it did not.')
  const story = `${told.failure}\n\n${told.rows.map(({ text }) => text).join('\n')}`
  const file = join(pages, 'index.md')
  const page = readFileSync(file, 'utf8')
    .replace('<!-- the test -->', () => `\`\`\`js\n${code}\`\`\``)
    .replace('<!-- the story -->', () => `\`\`\`text\n${story}\n\`\`\``)
  writeFileSync(file, page)
}
