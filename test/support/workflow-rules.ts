import * as v from 'valibot'
import { parse } from 'yaml'

/*
 * Rules for workflows of this repository, so that neither a dependency nor another person can publish.
 * Each rule returns one message per violation, which begins with the job if there is one.
 */

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly permissions?: Permissions
  readonly uses?: string
  readonly container?: unknown
  readonly services?: unknown
  readonly steps?: readonly Step[]
  readonly 'runs-on'?: unknown
  readonly 'timeout-minutes'?: number
}

type Permissions = string | Readonly<Record<string, string>>

interface Workflow {
  readonly on: string | readonly string[] | Readonly<Record<string, unknown>>
  readonly permissions?: Permissions
  readonly jobs: Readonly<Record<string, Job>>
}

/** Returns a schema that accepts only this value. A schema inside the value is used as is. */
function exactly(value: unknown): v.GenericSchema {
  if (Array.isArray(value)) return v.strictTuple(value.map(exactly) as [v.GenericSchema, ...v.GenericSchema[]])
  if (typeof value !== 'object' || value === null) return v.literal(value as string)
  if ('~standard' in value) return value as v.GenericSchema
  return v.strictObject(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, exactly(one)])))
}

const text = v.string()
const of = (expression: string): string => `\${{ ${expression} }}`
const action = (name: string, inputs: object): v.GenericSchema =>
  exactly({ name: v.optional(text), uses: v.pipe(text, v.startsWith(`${name}@`)), with: inputs })
const script = (rest: object, ...lines: readonly string[]): v.GenericSchema =>
  exactly({
    name: v.optional(text),
    ...rest,
    run: v.pipe(text, v.trim(), v.literal(lines.join('\n'), 'The script is not the known one.')),
  })
const job = (rest: object, ...steps: readonly v.GenericSchema[]): v.GenericSchema =>
  exactly({ 'runs-on': text, 'timeout-minutes': v.number(), ...rest, steps })

// Code of dependencies has run in the build job, so its artifact can contain any file under any name.
const takeTheListedFiles = [
  action('actions/download-artifact', { name: 'release', path: 'downloaded' }),
  script(
    { env: { SUMS: of('needs.build.outputs.sums') } },
    'mkdir "$RUNNER_TEMP/release"',
    'cd "$RUNNER_TEMP/release"',
    'echo "$SUMS" > SHA256SUMS',
    String.raw`test -z "$(grep -vxE '[0-9a-f]{64}  ((create-)?stuntdouble-[0-9][0-9A-Za-z.-]*\.tgz|sbom\.cdx\.json)' SHA256SUMS)"`,
    'for name in $(cut -c 67- SHA256SUMS); do cp "$GITHUB_WORKSPACE/downloaded/$name" .; done',
    'sha256sum --check --strict SHA256SUMS',
  ),
]
const there = { 'working-directory': `${of('runner.temp')}/release` }
const tags = exactly({ push: { tags: ['v*'] } })

/** The jobs with a write permission and their allowed steps. To change one of them, change it here, too. */
const privileged = [
  {
    permission: 'contents',
    does: 'drafts a release',
    on: tags,
    job: job(
      { needs: 'build', permissions: { contents: 'write' } },
      ...takeTheListedFiles,
      script(
        { ...there, env: { GH_TOKEN: of('github.token'), GH_REPO: of('github.repository') } },
        'gh release create "$GITHUB_REF_NAME" --draft --verify-tag --generate-notes *.tgz sbom.cdx.json SHA256SUMS',
      ),
    ),
  },
  {
    permission: 'id-token',
    does: 'stages the packages',
    on: tags,
    job: job(
      { needs: ['build', 'draft'], environment: 'npm', permissions: { 'id-token': 'write' } },
      action('actions/setup-node', { 'node-version': v.number(), 'package-manager-cache': false }),
      ...takeTheListedFiles,
      // npm reads any of its settings, such as a proxy, from publishConfig in the package.
      script(
        there,
        `for file in *.tgz; do tar -xzOf "$file" --wildcards '*/package.json' | jq -es 'length > 0 and all(.publishConfig // {} | keys - ["access", "provenance"] == [])'; done`,
      ),
      script(
        there,
        'for file in *.tgz; do npm stage publish "./$file" --provenance --ignore-scripts --userconfig /dev/null; done',
      ),
    ),
  },
  {
    permission: 'security-events',
    does: 'runs Scorecard',
    on: exactly({
      push: { branches: ['main'] },
      schedule: [{ cron: v.pipe(text, v.regex(/^\d+ \d+ \* \* [\d*]$/, 'Run it each week.')) }],
    }),
    job: job(
      { permissions: { contents: 'read', actions: 'read', 'security-events': 'write' } },
      action('actions/checkout', { 'persist-credentials': false }),
      action('ossf/scorecard-action', {
        results_file: 'results.sarif',
        results_format: 'sarif',
        publish_results: false,
      }),
      script(
        { env: { GH_TOKEN: of('github.token') } },
        'gzip -c results.sarif | base64 -w0 > results.txt',
        'gh api --method POST "repos/$GITHUB_REPOSITORY/code-scanning/sarifs" -f commit_sha="$GITHUB_SHA" -f ref="$GITHUB_REF" -F sarif=@results.txt',
      ),
    ),
  },
]
const known = (permission: string) => privileged.find((one) => one.permission === permission)

/** Events that need the right to push, or, as pull_request does, run without rights and secrets. */
const events = ['push', 'pull_request', 'schedule', 'workflow_dispatch']

const stepsOf = (job: Job): readonly Step[] => job.steps ?? []
const runs = (job: Job, what: RegExp): boolean => stepsOf(job).some(({ run }) => run !== undefined && what.test(run))
const uses = (job: Job, action: string): readonly Step[] =>
  stepsOf(job).filter(({ uses: used }) => used?.split('@')[0] === action)

/** The permissions that are written with more than reading. */
function written(permissions: Permissions | undefined): readonly string[] {
  if (typeof permissions === 'string') return permissions === 'read-all' ? [] : ['all']
  return Object.entries(permissions ?? {}).flatMap(([name, right]) => (right === 'write' ? [name] : []))
}

/** Each place where a value differs from its schema. */
const differences = (schema: v.GenericSchema, value: unknown): readonly string[] =>
  (v.safeParse(schema, value).issues ?? []).map((issue) => `${v.getDotPath(issue) ?? 'all of it'}: ${issue.message}`)

/** Returns the violations of one workflow. */
export function violations(text: string): readonly string[] {
  const workflow = parse(text) as Workflow
  const jobs = Object.entries(workflow.jobs)
  const found = [...pins(text, Object.values(workflow.jobs)), ...triggers(workflow)]
  if (workflow.permissions === undefined) found.push('The workflow has no permissions: all jobs get the default ones.')
  if (written(workflow.permissions).length > 0) found.push('The workflow gives a write permission to all jobs.')
  if (/\bsecrets\b|\b(?:NODE_AUTH_TOKEN|NPM_TOKEN)\b/i.test(JSON.stringify(workflow)))
    found.push('The workflow has a secret. The token to publish comes from trusted publishing.')
  for (const [name, job] of jobs) found.push(...everyJob(job, workflow).map((what) => `${name}: ${what}`))
  const permissions = jobs.flatMap(([, job]) => written(job.permissions))
  for (const { on, does } of privileged.filter(({ permission }) => permissions.includes(permission)))
    found.push(...differences(whole(on), workflow).map((what) => `The workflow ${does}, but ${what}`))
  if (permissions.includes('id-token')) found.push(...releases(workflow))
  return found
}

/** A workflow with a job that may write: no defaults or variables reach that job. */
const whole = (on: v.GenericSchema): v.GenericSchema =>
  exactly({ name: v.optional(text), on, concurrency: v.optional(text), permissions: {}, jobs: v.looseObject({}) })

/** An action must be pinned to its commit, which cannot be moved, with its version in a comment. */
function pins(text: string, jobs: readonly Job[]): readonly string[] {
  const pinned = [...text.matchAll(/^\s*(?:- )?uses: ([\w.-]+\/[\w./-]+@[0-9a-f]{40}) # v\d+(?:\.\d+){0,2}$/gm)]
  // Each line is used once, because the comment of one line does not describe another.
  const lines = pinned.map(([, action]) => action!)
  const found: string[] = []
  for (const { uses: used } of jobs.flatMap((job) => [job, ...stepsOf(job)])) {
    if (used === undefined || used.startsWith('./')) continue
    const at = lines.indexOf(used)
    if (at < 0) found.push(`${used} is not pinned to a commit with a comment such as # v1.2.3.`)
    else lines.splice(at, 1)
  }
  return found
}

function triggers({ on }: Workflow): readonly string[] {
  const names = typeof on === 'string' ? [on] : Array.isArray(on) ? (on as readonly string[]) : Object.keys(on)
  return names
    .filter((name) => !events.includes(name))
    .map((name) => `The event ${name} may run with the rights of the repository for everybody.`)
}

function everyJob(job: Job, { permissions }: Workflow): readonly string[] {
  const found: string[] = []
  if (job['timeout-minutes'] === undefined) found.push('has no timeout-minutes.')
  if (job.uses === undefined && !/^ubuntu-(?:latest|\d\d\.\d\d)$/.test(String(job['runs-on'])))
    found.push('runs on a machine that is not hosted by GitHub.')
  if (job.container !== undefined || job.services !== undefined) found.push('has a container, which no commit pins.')
  if (permissions !== undefined && Object.keys(permissions).length === 0 && job.permissions === undefined)
    found.push('has no permissions.')
  for (const permission of written(job.permissions)) {
    const rule = known(permission)
    if (rule === undefined) found.push(`may not have ${permission}: write.`)
    else found.push(...differences(rule.job, job).map((what) => `is no job that ${rule.does}: ${what}`))
  }
  if (!written(job.permissions).includes('id-token') && runs(job, /\bpubl?i?s?h?\b/))
    found.push('publishes, which only the job that stages the packages may.')
  for (const { with: inputs } of uses(job, 'actions/checkout')) {
    if (inputs?.['persist-credentials'] !== false) found.push('checks out without persist-credentials: false.')
  }
  if (runs(job, /\$\{\{/)) found.push('has an expression in run: give it to the script by env.')
  return found
}

/** Checks the workflow that publishes: it must not use a cache, and the jobs that others need must have their steps. */
function releases({ jobs }: Workflow): readonly string[] {
  const found: string[] = []
  for (const { with: inputs, uses: used } of Object.values(jobs).flatMap(stepsOf)) {
    const cached =
      inputs?.cache !== undefined ||
      used?.startsWith('actions/cache') ||
      (used?.startsWith('actions/setup-node@') && inputs?.['package-manager-cache'] !== false)
    if (cached) found.push(`A workflow that publishes has a cache, which other workflows can fill: ${used}.`)
  }
  const { build = {}, draft } = jobs
  if (!uses(build, 'actions/upload-artifact').some(({ with: inputs }) => inputs?.name === 'release'))
    found.push('build: does not upload the artifact that is downloaded.')
  if (!runs(build, /^ *npm sbom .*> "\$release\/sbom\.cdx\.json"$/m)) found.push('build: writes no SBOM.')
  if (!written(draft?.permissions).includes('contents')) found.push('draft: drafts no release.')
  return found
}

/** Returns actions with different commits in workflows, because one of them may have been changed unnoticed. */
export function disagreements(texts: readonly string[]): readonly string[] {
  const commits = new Map<string, Set<string>>()
  for (const [, action, commit] of texts.join('\n').matchAll(/uses:\s*([\w./-]+)@(\S+)/g))
    commits.set(action!, (commits.get(action!) ?? new Set()).add(commit!))
  return [...commits].flatMap(([action, { size }]) => (size > 1 ? [`${action} is pinned to ${size} commits.`] : []))
}

/** Returns what is missing in all workflows together. */
export function missing(texts: readonly string[]): readonly string[] {
  const all = texts.flatMap((text) => Object.values((parse(text) as Workflow).jobs))
  const permissions = all.flatMap((job) => written(job.permissions))
  return privileged.flatMap(({ permission, does }) => (permissions.includes(permission) ? [] : [`No job ${does}.`]))
}

const update = (ecosystem: string, rest: object = {}): v.GenericSchema =>
  exactly({
    'package-ecosystem': ecosystem,
    directory: '/',
    schedule: { interval: v.picklist(['daily', 'weekly']) },
    cooldown: { 'default-days': v.pipe(v.number(), v.minValue(3), v.maxValue(14)) },
    groups: v.record(
      text,
      v.strictObject({ patterns: v.optional(v.array(text)), 'update-types': v.optional(v.array(text)) }),
    ),
    ...rest,
  })
const dependabot = exactly({
  version: 2,
  updates: [update('github-actions'), update('npm', { 'exclude-paths': ['test/versions/**'] })],
})

/** Returns the violations of .github/dependabot.yml. An unknown setting could turn updates off. */
export const dependabotViolations = (text: string): readonly string[] => differences(dependabot, parse(text))
