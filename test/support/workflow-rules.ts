import { parse } from 'yaml'

/*
 * What a workflow of this repository must keep, so that neither a dependency nor a stranger can publish.
 * Each rule returns one sentence per violation, which begins with the job where there is one.
 */

interface Step {
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly needs?: string | readonly string[]
  readonly permissions?: Permissions
  readonly environment?: string | { readonly name?: string }
  readonly uses?: string
  readonly container?: unknown
  readonly steps?: readonly Step[]
  readonly 'timeout-minutes'?: number
}

type Permissions = string | Readonly<Record<string, string>>

interface Workflow {
  readonly on: string | readonly string[] | Readonly<Record<string, unknown>>
  readonly permissions?: Permissions
  readonly jobs: Readonly<Record<string, Job>>
}

/** The write permissions that a job may have, by what it does. All other jobs read. */
const mayWrite: readonly { readonly permission: string; readonly does: string; readonly is: (job: Job) => boolean }[] =
  [
    { permission: 'contents', does: 'drafts a release', is: (job) => runs(job, /\bgh release create\b/) },
    { permission: 'id-token', does: 'stages a package', is: (job) => runs(job, publishing) },
    {
      permission: 'security-events',
      does: 'runs Scorecard',
      is: (job) => uses(job, 'ossf/scorecard-action').length > 0,
    },
  ]

/** Actions that may be in a job with a write permission. */
const trusted = [
  'actions/checkout',
  'actions/setup-node',
  'actions/download-artifact',
  'actions/upload-artifact',
  'ossf/scorecard-action',
]

/** Events that anybody can cause and that run with the rights of the repository. */
const events = ['pull_request_target', 'workflow_run', 'issue_comment', 'issues', 'discussion_comment']

const publishing = /\b(?:npm (?:stage )?publish|changeset publish)\b/

/** The programs of a script in a job with a write permission; npm as well, where it runs no script of a package. */
const programs = ['echo', 'sha256sum', 'gh', 'gzip', 'base64', 'for', 'done']

const stepsOf = (job: Job): readonly Step[] => job.steps ?? []
const runs = (job: Job, what: RegExp): boolean => stepsOf(job).some(({ run }) => run !== undefined && what.test(run))
const uses = (job: Job, action: string): readonly Step[] =>
  stepsOf(job).filter(({ uses: used }) => used?.split('@')[0] === action)
const needs = ({ needs: needed = [] }: Job): readonly string[] => (typeof needed === 'string' ? [needed] : needed)
const artifacts = (job: Job, action: string): readonly unknown[] =>
  uses(job, action).map(({ with: inputs }) => inputs?.name)

/** The permissions that are written with more than reading. */
function written(permissions: Permissions | undefined): readonly string[] {
  if (typeof permissions === 'string') return permissions === 'read-all' ? [] : ['all']
  return Object.entries(permissions ?? {}).flatMap(([name, right]) => (right === 'write' ? [name] : []))
}

/** What is wrong with one workflow; empty when it keeps the rules. */
export function violations(text: string): readonly string[] {
  const workflow = parse(text) as Workflow
  const jobs = Object.entries(workflow.jobs)
  const found = [...pins(text, Object.values(workflow.jobs)), ...triggers(workflow)]
  if (workflow.permissions === undefined) found.push('The workflow has no permissions: all jobs get the default ones.')
  if (written(workflow.permissions).length > 0) found.push('The workflow gives a write permission to all jobs.')
  for (const [name, job] of jobs) {
    found.push(...everyJob(job, workflow).map((what) => `${name}: ${what}`))
    if (written(job.permissions).length > 0) found.push(...runsNoDependency(job).map((what) => `${name}: ${what}`))
    if (runs(job, publishing)) found.push(...publishes(job).map((what) => `${name}: ${what}`))
  }
  if (jobs.some(([, job]) => runs(job, publishing))) found.push(...releases(workflow))
  return found
}

/** An action is named by its commit, which nobody can move, and the comment says which version that is. */
function pins(text: string, jobs: readonly Job[]): readonly string[] {
  const pinned = [...text.matchAll(/^\s*(?:- )?uses: ([\w.-]+\/[\w./-]+@[0-9a-f]{40}) # v\d+(?:\.\d+){0,2}$/gm)]
  // Each line serves once: the comment of one line says nothing about another.
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

function triggers({ on, jobs }: Workflow): readonly string[] {
  const names = typeof on === 'string' ? [on] : Array.isArray(on) ? (on as readonly string[]) : Object.keys(on)
  const found = names
    .filter((name) => events.includes(name))
    .map((name) => `The event ${name} runs with the rights of the repository for everybody.`)
  if (!Object.values(jobs).some((job) => runs(job, publishing))) return found
  const push = names.length === 1 && (on as Readonly<Record<string, unknown>>).push
  const tagged = typeof push === 'object' && push !== null && Object.keys(push).join() === 'tags'
  return tagged ? found : [...found, 'A workflow that publishes runs for pushed tags only.']
}

function everyJob(job: Job, { permissions }: Workflow): readonly string[] {
  const found: string[] = []
  if (job['timeout-minutes'] === undefined) found.push('has no timeout-minutes.')
  if (permissions !== undefined && Object.keys(permissions).length === 0 && job.permissions === undefined)
    found.push('has no permissions.')
  for (const permission of written(job.permissions)) {
    const rule = mayWrite.find((one) => one.permission === permission)
    if (rule === undefined) found.push(`may not have ${permission}: write.`)
    else if (!rule.is(job)) found.push(`has ${permission}: write, but only a job that ${rule.does} may.`)
  }
  for (const { with: inputs } of uses(job, 'actions/checkout')) {
    if (inputs?.['persist-credentials'] !== false) found.push('checks out without persist-credentials: false.')
  }
  if (runs(job, /\$\{\{/)) found.push('has an expression in run: give it to the script by env.')
  return found
}

/** A job with a write permission: what dependencies bring along could use it. */
function runsNoDependency(job: Job): readonly string[] {
  const found = stepsOf(job).flatMap(({ uses: used }) =>
    used === undefined || trusted.includes(used.split('@')[0]!)
      ? []
      : [`has a write permission and uses ${used.split('@')[0]}.`],
  )
  if (job.uses !== undefined) found.push('has a write permission and calls another workflow.')
  if (job.container !== undefined) found.push('has a write permission and runs in a container.')
  for (const line of stepsOf(job).flatMap(({ run = '' }) => run.split(/[\n;&|]/))) {
    const [, program, rest] = /^\s*(?:do\s+)?(\S*)(.*)$/.exec(line)!
    const harmless =
      program === '' ||
      programs.includes(program!) ||
      (program === 'npm' && /^ (?:ci|publish|stage publish)\b/.test(rest!) && /\s--ignore-scripts(?:\s|$)/.test(rest!))
    if (!harmless || /\$\(|`|[<>]\(/.test(line))
      found.push(`has a write permission and runs what may be code of dependencies: ${line.trim()}`)
  }
  return found
}

/** The job that publishes: approved, without a stored token, and with nothing but what another job has built. */
function publishes(job: Job): readonly string[] {
  const found: string[] = []
  const commands = stepsOf(job)
    .flatMap(({ run = '' }) => run.split('\n'))
    .filter((line) => publishing.test(line))
  const environment = typeof job.environment === 'string' ? job.environment : job.environment?.name
  if (!environment) found.push('publishes without an environment, whose reviewers approve.')
  if (!written(job.permissions).includes('id-token')) found.push('publishes without id-token: write.')
  if (written(job.permissions).length > 1) found.push('publishes and has other write permissions.')
  if (commands.some((line) => !/\bnpm stage publish\b/.test(line))) found.push('publishes without npm stage publish.')
  if (commands.some((line) => !/\s--provenance(?:\s|$)/.test(line))) found.push('publishes without --provenance.')
  if (uses(job, 'actions/checkout').length > 0) found.push('publishes and checks out the repository.')
  if (artifacts(job, 'actions/download-artifact').length === 0) found.push('publishes what no other job has built.')
  if (!runs(job, /\bsha256sum --check\b/)) found.push('publishes without a look at the sums of the build.')
  return found
}

/** The whole workflow that publishes: nothing cached, no secrets, an SBOM in the release. */
function releases(workflow: Workflow): readonly string[] {
  const { jobs } = workflow
  const found: string[] = []
  const all = Object.values(jobs)
  const whole = JSON.stringify(workflow)
  if (/\bsecrets\b|\b(?:NODE_AUTH_TOKEN|NPM_TOKEN)\b/.test(whole))
    found.push('A workflow that publishes has a secret: the token comes from trusted publishing.')
  const steps = all.flatMap(stepsOf)
  for (const { with: inputs, uses: used } of steps) {
    const cached =
      inputs?.cache !== undefined ||
      used?.startsWith('actions/cache') ||
      (used?.startsWith('actions/setup-node@') && inputs?.['package-manager-cache'] !== false)
    if (cached) found.push(`A workflow that publishes has a cache, which other workflows can fill: ${used}.`)
  }
  for (const job of all) {
    const uploaded = needs(job).flatMap((name) => artifacts(jobs[name] ?? {}, 'actions/upload-artifact'))
    if (artifacts(job, 'actions/download-artifact').some((name) => name === undefined || !uploaded.includes(name)))
      found.push('A job downloads what none of the jobs that it needs has uploaded.')
  }
  const sbom = steps.flatMap(({ run = '' }) => [...run.matchAll(/\bnpm sbom .*> "?(?:\S*\/)?([\w.-]+)"?/g)])[0]?.[1]
  const attached = all.some((job) =>
    stepsOf(job).some(({ run = '' }) => /\bgh release create\b/.test(run) && sbom !== undefined && run.includes(sbom)),
  )
  if (!attached) found.push('The release has no SBOM: npm sbom writes one, gh release create attaches it.')
  return found
}

/** Where workflows disagree about an action: each is pinned to one commit, or one of them was changed behind our back. */
export function disagreements(texts: readonly string[]): readonly string[] {
  const commits = new Map<string, Set<string>>()
  for (const [, action, commit] of texts.join('\n').matchAll(/uses:\s*([\w./-]+)@(\S+)/g))
    commits.set(action!, (commits.get(action!) ?? new Set()).add(commit!))
  return [...commits].flatMap(([action, { size }]) => (size > 1 ? [`${action} is pinned to ${size} commits.`] : []))
}

/** What all workflows together lack. */
export function missing(texts: readonly string[]): readonly string[] {
  const workflows = texts.map((text) => parse(text) as Workflow)
  const scorecard = workflows.some(
    ({ on, jobs }) =>
      Object.keys(on).includes('schedule') &&
      Object.values(jobs).some((job) => uses(job, 'ossf/scorecard-action').length > 0),
  )
  const release = workflows.some(({ jobs }) => Object.values(jobs).some((job) => runs(job, publishing)))
  return [
    ...(scorecard ? [] : ['No workflow runs Scorecard on a schedule.']),
    ...(release ? [] : ['No workflow publishes.']),
  ]
}

interface Dependabot {
  readonly version: number
  readonly updates: readonly {
    readonly 'package-ecosystem': string
    readonly directory?: string
    readonly schedule?: { readonly interval?: string }
    readonly cooldown?: { readonly 'default-days'?: number }
  }[]
}

/** What is wrong with .github/dependabot.yml. */
export function dependabotViolations(text: string): readonly string[] {
  const { version, updates } = parse(text) as Dependabot
  const found = version === 2 ? [] : ['The version of the file must be 2.']
  for (const ecosystem of ['github-actions', 'npm']) {
    const update = updates.find((one) => one['package-ecosystem'] === ecosystem && one.directory === '/')
    if (update === undefined) found.push(`${ecosystem} is not updated.`)
    else {
      if (!/^(?:daily|weekly)$/.test(update.schedule?.interval ?? '')) found.push(`${ecosystem} is not updated weekly.`)
      if (!((update.cooldown?.['default-days'] ?? 0) >= 3))
        found.push(`${ecosystem} is updated on the day of a release.`)
    }
  }
  return found
}
