import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { amount } from '../../../../test/support/effort.js'
import { place } from './built.js'

// Runs the files that users copy unchanged, with the tools that read them where they are available.

/** Each shard has one block at night, and three by day. */
const runs = String(amount(2300, 2300, 7300))

const examples = new URL('../../../../examples/campaigns/', import.meta.url).pathname
const yaml = (name: string): unknown => parse(readFileSync(join(examples, name), 'utf8'))

/** Creates a checkout of a project with the campaign, as after `npm ci`. */
function project(): string {
  const folder = mkdtempSync(join(place, 'project-'))
  copyFileSync(join(examples, 'campaign.ts'), join(folder, 'campaign.ts'))
  symlinkSync(join(place, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

const path = `${dirname(process.execPath)}:${process.env.PATH}`

function shell(
  command: readonly string[],
  cwd: string,
  env: Record<string, string>,
): { code: number | null; out: string; err: string } {
  const [program = '', ...words] = command
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning', PATH: path, NO_COLOR: '1', ...env },
  })
  return { code: status, out: stdout, err: stderr }
}

const whole = (seed: string): string =>
  shell(
    ['node_modules/.bin/stuntdouble', 'campaign', 'run', 'campaign.ts', '--runs', runs, '--seed', seed],
    project(),
    {},
  ).out

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
}

interface Workflow {
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<string, { strategy?: { matrix: { shard: readonly number[] } }; needs?: string; steps: readonly Step[] }>
  >
}

/** Evaluates the GitHub expressions that the workflow uses. */
function evaluated(text: string, context: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
    for (const term of expression.split(' || ')) {
      const value = /^'.*'$/.test(term) ? term.slice(1, -1) : context[term]
      if (value === undefined) throw new Error(`nobody knows ${term}`)
      if (value !== '') return value
    }
    return ''
  })
}

test('the matrix of GitHub Actions runs its shards in separate checkouts, and prints the verdict of all', {
  timeout: 240_000,
}, () => {
  const { env, jobs } = yaml('github-actions.yml') as Workflow
  const { shard, merge } = jobs as Record<'shard' | 'merge', Workflow['jobs'][string]>
  const artifacts = mkdtempSync(join(place, 'artifacts-'))
  const context = {
    'inputs.runs': runs,
    'github.run_number': '12',
    'strategy.job-total': String(shard.strategy!.matrix.shard.length),
  }
  const variables = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, evaluated(value, context)]))
  let last = { code: null as number | null, out: '', err: '' }
  const steps = (all: readonly Step[], own: Readonly<Record<string, string>>): void => {
    const folder = project()
    for (const { uses = '', run = '', with: given = {} } of all) {
      const value = (name: string): string => evaluated(given[name]!, own)
      if (uses.startsWith('actions/upload-artifact')) {
        mkdirSync(join(artifacts, value('name')))
        for (const file of globSync(value('path'), { cwd: folder }))
          copyFileSync(join(folder, file), join(artifacts, value('name'), basename(file)))
      } else if (uses.startsWith('actions/download-artifact')) {
        expect(given['merge-multiple']).toBe(true)
        for (const file of globSync(`${value('pattern')}/*`, { cwd: artifacts }))
          copyFileSync(join(artifacts, file), join(folder, basename(file)))
      } else if (run !== '' && run !== 'npm ci') {
        last = shell(['bash', '-e', '-c', evaluated(run, own)], folder, variables)
        expect(last.code, last.err).toBe(0)
      }
    }
  }
  for (const nth of shard.strategy!.matrix.shard) steps(shard.steps, { ...context, 'matrix.shard': String(nth) })
  expect(merge.needs).toBe('shard')
  steps(merge.steps, context)
  expect(last.out).toBe(whole('12'))
  expect(last.out).toMatch(/^campaign\.ts, seed 12: [\d,]+ runs hold\. All runs were tried\.\n/)
})

interface Job {
  readonly spec: {
    readonly completionMode: string
    readonly completions: number
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          { command: readonly string[]; env: readonly { name: string; value: string }[]; workingDir: string },
        ]
      }
    }
  }
}

test('the Indexed Job of Kubernetes runs the command of its container unchanged, for each index', {
  timeout: 240_000,
}, () => {
  const { spec } = yaml('kubernetes-job.yaml') as Job
  const [container] = spec.template.spec.containers
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))
  expect([spec.completionMode, env.SHARDS]).toEqual(['Indexed', String(spec.completions)])
  const results = mkdtempSync(join(place, 'results-'))
  const given = { ...env, RUNS: runs, RESULTS: results }
  const folder = project()
  for (let index = 0; index < spec.completions; index++) {
    const { code, err } = shell(container.command, folder, { ...given, JOB_COMPLETION_INDEX: String(index) })
    expect(code, err).toBe(0)
  }
  const { code, out } = shell(
    ['bash', '-c', 'node_modules/.bin/stuntdouble campaign merge "$RESULTS"/shard-*.json'],
    folder,
    given,
  )
  expect([code, out]).toEqual([0, whole('1')])
})
