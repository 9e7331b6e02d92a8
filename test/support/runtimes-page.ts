import { excludedParts } from '../runtimes/compare-traces.js'
import { type Result, readResults } from '../runtimes/results.js'
import { needs, type Runtime, runtimes } from '../runtimes/runtimes.js'

/** Returns docs/runtimes.md, from what the suite did in each runtime. */
export function runtimesPage(results = readResults()): string {
  const rows = runtimes.map((runtime) => row(runtime, results[runtime.name]))
  return `# Where it runs

<!-- Generated from test/runtimes/results.json and test/support/runtimes-page.ts: \`npm run docs\`. Do not edit. -->

Find out in which runtimes this package is tested, with which versions, and what each runtime lacks.

One suite of ${suiteSize(results)} tests runs in each of these runtimes, from the packed package. It covers calls of the SDKs, Lua, retries, schedules, signatures, faults, workflows, the Redis protocol, and matchers with their failures. The tests of this repository itself run in ${runtimes[0]!.name}.

| Runtime | Versions | Tests | Left out | Trace | Command |
|---|---|---|---|---|---|
${rows.join('\n')}

${Object.values(needs)
  .map(({ title, reason }) => `- **Without ${title}.** ${reason}`)
  .join('\n')}

Other frameworks and versions of the test runners: see [SDK compatibility](sdk-compatibility.md).

## The same trace everywhere

The last test of the suite plays a day of a shop. The column "Trace" says whether its [trace](traces.md) has the same bytes as in ${runtimes[0]!.name}. These parts depend on the runtime. The comparison ignores them, or the day does not contain them:

| Part | Reason |
|---|---|
${excludedParts.map(({ title, reason }) => `| ${title} | ${reason} |`).join('\n')}

## Run the suite

In a clone of this repository, \`npm run test:nightly -- build runtimes\` runs the suite in each runtime. \`npm run docs -- runtimes\` also writes the results into the table above. Each runtime has a folder in \`test/runtimes\` with a lock file of its own, which \`npm ci\` of the repository does not install. If npm cannot install a runtime, or if there is no Chromium, the command reports this and continues.
`
}

function row({ name, command, page, lacks }: Runtime, result: Result | undefined): string {
  const versions = Object.entries(result?.versions ?? {}).map(([name, version]) => `${name} ${version}`)
  const left = lacks.map((need) => needs[need].title).join(', ')
  return `| [${name}](${page}) | ${versions.join(', ')} | ${result?.passed ?? 0} | ${left} | ${result?.trace ?? ''} | \`${command}\` |`
}

function suiteSize(results: Readonly<Record<string, Result>>): number {
  const { passed = 0, skipped = [] } = results[runtimes[0]!.name] ?? {}
  return passed + skipped.length
}
