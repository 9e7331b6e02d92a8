// Writes the generated pages: `npm run docs`. `npm run docs -- stories` first runs the case studies and stores their failures;
// `npm run docs -- failures` writes the failures of matchers into docs/reference/matchers.md. `npm run docs -- runtimes`
// first runs the suite of test/runtimes in each runtime.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { queueEndpoints } from '../../src/queue/rest/queue-endpoints.js'
import { sessionCommands } from '../../src/store/resp/session-commands.js'
import { transportTable } from '../contract/transport.js'
import { withToolsAndConversation } from './agent-page.js'
import { commandLinePage } from './command-line-page.js'
import { controlReference } from './control-reference.js'
import { differenceReference } from './difference-reference.js'
import { documentedCommands } from './documented-commands.js'
import { listedIn, read } from './entries.js'
import { faultReference } from './fault-reference.js'
import { withFaultTables } from './fault-tables.js'
import { withLimitTable } from './limit-table.js'
import { policyReference } from './policy-reference.js'
import { withPromiseTable } from './promise-table.js'
import { queueReference } from './queue-reference.js'
import { writeRecipes } from './recipe-pages.js'
import { runtimesPage } from './runtimes-page.js'
import { samplePages, withSamples } from './samples.js'
import { scenarioFiles, withTables } from './scenario-files.js'
import { sdkCompatibility } from './sdk-compatibility.js'
import { commandReference } from './store-reference.js'
import { withCaseStudies } from './story-page.js'

const words = process.argv.slice(2)
if (words.includes('stories'))
  run('npx', 'vitest', 'run', 'examples/case-studies', 'first-failure', 'migrate-mocks', '--update')
if (words.includes('failures')) {
  run('npm', 'run', '--silent', 'build')
  run('node', 'test/failures/write-pages.ts')
}
if (words.includes('runtimes')) {
  run('npm', 'run', '--silent', 'build')
  run('node', 'test/runtimes/run.ts', '--write')
}

writeFileSync(
  new URL('../../docs/reference/commands.md', import.meta.url),
  commandReference(documentedCommands(), [...sessionCommands.values()]),
)
writeFileSync(new URL('../../docs/reference/queue.md', import.meta.url), queueReference(queueEndpoints))
writeFileSync(new URL('../../docs/reference/policies.md', import.meta.url), policyReference())
writeFileSync(new URL('../../docs/reference/differences.md', import.meta.url), differenceReference())
writeFileSync(new URL('../../docs/runtimes.md', import.meta.url), runtimesPage())
writeFileSync(new URL('../../docs/sdk-compatibility.md', import.meta.url), sdkCompatibility())
writeFileSync(new URL('../../docs/reference/control.md', import.meta.url), controlReference())
writeFileSync(new URL('../../docs/cli.md', import.meta.url), await commandLinePage())
for (const [file, written] of listedIn) writeFileSync(new URL(`../../${file}`, import.meta.url), written(read(file)))
for (const [file, text] of scenarioFiles())
  writeFileSync(new URL(`../../packages/server/scenarios/${file}`, import.meta.url), text)
const scenarioPage = new URL('../../docs/scenarios.md', import.meta.url)
writeFileSync(scenarioPage, withTables(readFileSync(scenarioPage, 'utf8')))
const promisePage = new URL('../../docs/invariants.md', import.meta.url)
writeFileSync(promisePage, withPromiseTable(readFileSync(promisePage, 'utf8')))
const optionsPage = new URL('../../docs/server-options.md', import.meta.url)
writeFileSync(optionsPage, withLimitTable(readFileSync(optionsPage, 'utf8')))
const agentPage = new URL('../../docs/mcp.md', import.meta.url)
writeFileSync(agentPage, await withToolsAndConversation(readFileSync(agentPage, 'utf8')))
const faultPage = new URL('../../docs/faults.md', import.meta.url)
writeFileSync(faultPage, withFaultTables(readFileSync(faultPage, 'utf8')))
writeFileSync(new URL('../../docs/reference/faults.md', import.meta.url), await faultReference())
mkdirSync(new URL('../../docs/adapters/', import.meta.url), { recursive: true })
writeFileSync(new URL('../../docs/adapters/index.md', import.meta.url), transportTable())
const caseStudyPage = new URL('../../docs/case-studies.md', import.meta.url)
writeFileSync(caseStudyPage, withCaseStudies(readFileSync(caseStudyPage, 'utf8')))
writeRecipes()
for (const page of samplePages) {
  const file = new URL(`../../${page}`, import.meta.url)
  writeFileSync(file, withSamples(readFileSync(file, 'utf8')))
}

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit', cwd: new URL('../../', import.meta.url) })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}.`)
}
