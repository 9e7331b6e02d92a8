import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { place } from './built.js'

// Follows docs/campaigns.md as a reader does.

const root = new URL('../../../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/campaigns.md'), 'utf8')
const example = (name: string): string => readFileSync(join(root, 'examples/campaigns', name), 'utf8')
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = '']) => (name === language ? [text] : []))

test('docs/campaigns.md shows the files of the example', () => {
  expect(blocks('ts')[0]).toBe(`// campaign.ts\n${example('campaign.ts')}`)
  expect(blocks('yaml')).toEqual([example('github-actions.yml'), example('kubernetes-job.yaml')])
})

test('commands of docs/campaigns.md print the output that it shows, as a whole and in parts', {
  timeout: 240_000,
}, () => {
  const folder = mkdtempSync(join(place, 'page-'))
  symlinkSync(join(place, 'node_modules'), join(folder, 'node_modules'))
  const path = `${dirname(process.execPath)}:${process.env.PATH}`
  const sh = (script: string): string =>
    execFileSync('bash', ['-e', '-c', script.replaceAll('npx ', 'node_modules/.bin/')], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH: path, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const [first = '', second = ''] = blocks('ts')
  writeFileSync(join(folder, 'campaign.ts'), first)
  const [whole = '', parts = ''] = blocks('sh')
  const [shown = ''] = blocks('')
  expect(sh(whole)).toBe(shown)
  expect(sh(parts).endsWith(shown)).toBe(true)
  writeFileSync(join(folder, 'plays.ts'), second)
  expect(sh('npx stuntdouble campaign run plays.ts --runs 20')).toMatch(
    /^plays\.ts, seed 1: 20 runs hold\. All runs were tried\.\n/,
  )
})
