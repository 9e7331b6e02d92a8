import type { Project, ProjectRunner } from './project.js'

/** A file to write. An existing file is not overwritten. */
interface NewFile {
  /** Path relative to the project folder, with slashes. */
  readonly path: string
  readonly text: string
}

/** The files that `init` writes into a project, and the remaining steps for the user. */
export interface InitPlan {
  readonly files: readonly NewFile[]
  /** Messages about what the user must add to existing files. */
  readonly left: readonly string[]
  readonly run: string
}

export function planFor(project: Project): InitPlan {
  const { execute, modules } = project
  const runs: Readonly<Record<ProjectRunner, string>> = {
    vitest: `${execute} vitest run stuntdouble`,
    jest: `${modules && project.transform === undefined && project.config === undefined ? 'NODE_OPTIONS=--experimental-vm-modules ' : ''}${execute} jest stuntdouble.test`, // Jest compares this with whole paths, folders included.
    playwright: `${execute} playwright test stuntdouble`,
    node: `node --test ${testPath(project)}`,
  }
  return { files: filesFor(project), left: leftIn(project), run: runs[project.runner] }
}

function filesFor(project: Project): readonly NewFile[] {
  const test: NewFile = { path: testPath(project), text: testText(project) }
  if (project.runner === 'playwright') return [test]
  const setup: NewFile = { path: setupPath(project), text: setupText(project) }
  const config = configFor(project)
  return [setup, ...(config === undefined ? [] : [config]), test]
}

function endingOf({ runner, typescript, typeModule }: Project): string {
  if (typescript) return 'ts'
  if (runner === 'jest' || runner === 'playwright') return 'js'
  return typeModule ? 'js' : 'mjs'
}

function setupPath(project: Project): string {
  return `stuntdouble.setup.${endingOf(project)}`
}

function testPath(project: Project): string {
  const name = `stuntdouble.${project.runner === 'playwright' ? 'spec' : 'test'}.${endingOf(project)}`
  return project.tests === '' ? name : `${project.tests}/${name}`
}

const options = `{
  onUnhandledOutbound: 'error', // blocks a request to a host that the test did not register, and fails the test
}`

function setupText({ runner, modules, types }: Project): string {
  const about =
    '// The sandbox of all tests: it responds to their fetch calls, sets the environment that the SDKs read,\n// and resets before each test.\n'
  if (runner === 'node') {
    return `${about}import { after, beforeEach } from 'node:test'
import { createSandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'

export const sandbox = createSandbox()
replaceFetch(sandbox)
Object.assign(process.env, sandbox.env)
beforeEach(() => sandbox.reset())
after(() => sandbox.dispose())
`
  }
  const declared = types === undefined ? '' : `import '${types}'\n`
  if (modules)
    return `${about}${declared}import { useSandbox } from 'stuntdouble/${runner}'\n\nexport const sandbox = useSandbox(${options})\n`
  return `${about}const { useSandbox } = require('stuntdouble/${runner}')\n\nmodule.exports.sandbox = useSandbox(${options})\n`
}

/** Returns the new configuration file of the runner; `undefined` if the runner has one or needs none. */
function configFor(project: Project): NewFile | undefined {
  const { runner, typescript, typeModule, transform } = project
  if (project.config !== undefined) return undefined
  const setup = `./${setupPath(project)}`
  if (runner === 'vitest') {
    const path = `vitest.config.${endingOf(project)}`
    return {
      path: typescript ? (typeModule ? path : 'vitest.config.mts') : path,
      text: `import { defineConfig } from 'vitest/config'\n\nexport default defineConfig({ test: { setupFiles: ['${setup}'] } })\n`,
    }
  }
  if (runner !== 'jest') return undefined
  const begin = typeModule ? 'export default' : 'module.exports ='
  const files = transform === 'ts-jest' ? 'tsx?' : '[jt]sx?'
  const compiled = transform === undefined ? '' : `  transform: { '\\\\.${files}$': '${transform}' },\n`
  return {
    path: 'jest.config.js',
    text: `${begin} {\n  testEnvironment: 'node',\n${compiled}  setupFilesAfterEnv: ['${setup}'],\n}\n`,
  }
}

const body = `  const orders = 'https://shop.test/orders'
  destinations.script(orders, [503, 503]) // the shop is down for two attempts
  queue.publish({ to: orders, body: { id: 42 } }) // in your test, your app publishes
  await clock.advance('5m')
`
const title = 'an order is delivered although the shop was down'

function testText(project: Project): string {
  const { runner, modules, tests } = project
  const setup =
    `${tests === '' ? './' : '../'}${setupPath(project).replace(/ts$/, runner === 'jest' ? '' : 'js')}`.replace(
      /\.$/,
      '',
    )
  const given = '  const { clock, destinations, queue } = sandbox\n'
  const expected = '  expect(queue).toHaveDelivered({ to: orders, attempts: 3, status: 200 })\n'
  if (runner === 'playwright') {
    return `import { expect, test } from 'stuntdouble/playwright'\n\ntest('${title}', async ({ sandbox }) => {\n${given}${body}${expected}})\n`
  }
  if (runner === 'node') {
    return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sandbox } from '${setup}'

test('${title}', async () => {
  const { clock, destinations, queue, traffic } = sandbox
${body}  assert.equal(traffic.ofType('attempt').length, 3, traffic.timeline())
})
`
  }
  const functions =
    runner === 'vitest' ? 'vitest' : project.typescript && !project.hasGlobalTypes ? '@jest/globals' : undefined
  const own = functions === undefined ? '' : `import { expect, test } from '${functions}'\n`
  const imported = modules ? `${own}import { sandbox } from '${setup}'\n` : `const { sandbox } = require('${setup}')\n`
  return `${imported}\ntest('${title}', async () => {\n${given}${body}${expected}})\n`
}

function leftIn(project: Project): readonly string[] {
  const { runner, config } = project
  const setup = `./${setupPath(project)}`
  if (runner !== 'playwright' && project.hasSetup(setupPath(project))) return []
  if (runner === 'playwright') {
    return [
      `If the tests start your app, change ${config ?? 'playwright.config.ts'}: add use: { sandboxServer: { port: 4010 } }, and in webServer add env: sandboxEnv({ port: 4010 }), imported from stuntdouble/playwright.`,
    ]
  }
  if (runner === 'vitest' && config !== undefined)
    return [`${config} was not changed. To use the sandbox in all tests, add test: { setupFiles: ['${setup}'] }.`]
  if (runner === 'jest' && config !== undefined)
    return [`${config} was not changed. To use the sandbox in all tests, add setupFilesAfterEnv: ['${setup}'].`]
  return []
}
