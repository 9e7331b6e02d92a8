import { toJsonSchema } from '@valibot/to-json-schema'
import { stringify } from 'yaml'
import { scenarios } from '../../packages/explore/src/scenarios.js'
import { faultSchema } from '../../src/faults/fault-schema.js'
import { faultRuleSchema } from '../../src/rules/rule-schema.js'
import { expectationKinds, expectationNames, oneExpectation } from '../../src/scenarios/expectations.js'
import { scriptStep } from '../../src/scenarios/fault-schemas.js'
import { secretKinds } from '../../src/scenarios/import/placeholders.js'
import { scenarioSchema } from '../../src/scenarios/scenario.js'
import { stepKinds, stepNames } from '../../src/scenarios/scenario-steps.js'

// What is generated from the tables of scenarios: the JSON Schema, the files of the ready-made outages, and the tables
// of docs/scenarios.md.

/** The schema that editors complete scenario files with. */
export function scenarioSchemaText(): string {
  const schema = toJsonSchema(scenarioSchema(), {
    // Rules that JSON Schema cannot express, such as a window that ends before it begins, are checked on reading a scenario.
    errorMode: 'ignore',
    typeMode: 'input',
    definitions: {
      fault: faultSchema(),
      rule: faultRuleSchema(),
      expectation: oneExpectation(),
      scriptStep: scriptStep(),
    } as never,
  })
  const titled = { ...schema, title: 'A scenario of stuntdouble' }
  return `${JSON.stringify(titled, undefined, 1)}\n`
}

/** Its file's name without the ending: `poisonMessage` → `poison-message`. */
export function fileOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** File name → text. */
export function scenarioFiles(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(scenarios).map(([name, scenario]) => [
      `${fileOf(name)}.yaml`,
      `# yaml-language-server: $schema=../scenario.schema.json\n# Generated from packages/explore/src/scenarios.ts: npm run docs\n${stringify(scenario, { version: '1.2', lineWidth: 100, aliasDuplicateObjects: false })}`,
    ]),
  )
}

const begin = (table: string): string => `<!-- generated: ${table} -->`
const end = '<!-- end -->'

/** Returns a page with its generated tables up to date. */
export function withTables(page: string): string {
  let text = page
  for (const [name, table] of Object.entries({
    outages: outages(),
    steps: steps(),
    expectations: expectations(),
    secrets: secrets(),
  })) {
    const from = text.indexOf(begin(name))
    if (from === -1) throw new Error(`The page has no line ${begin(name)}`)
    const to = text.indexOf(end, from)
    text = `${text.slice(0, from)}${begin(name)}\n\n${table}\n\n${text.slice(to)}`
  }
  return text
}

function outages(): string {
  const rows = Object.entries(scenarios).map(
    ([name, { description: about }]) =>
      `| [\`${fileOf(name)}\`](../packages/server/scenarios/${fileOf(name)}.yaml) | ${about} |`,
  )
  return ['| File | What happens |', '|---|---|', ...rows].join('\n')
}

function steps(): string {
  const rows = stepNames.map((name) => row(name, stepKinds[name].summary, stepKinds[name].example))
  return ['| Step | Example | What it does |', '|---|---|---|', ...rows].join('\n')
}

function expectations(): string {
  const rows = expectationNames.map((name) => row(name, expectationKinds[name].summary, expectationKinds[name].example))
  return ['| Expectation | Example | What must hold |', '|---|---|---|', ...rows].join('\n')
}

function secrets(): string {
  const rows = Object.entries(secretKinds).map(([kind, about]) => `| \`${kind}\` | ${about} |`)
  return ['| Kind | What is replaced |', '|---|---|', ...rows].join('\n')
}

function row(name: string, summary: string, example: unknown): string {
  const flow = stringify({ [name]: example }, { version: '1.2', collectionStyle: 'flow', lineWidth: 0 }).trim()
  return `| \`${name}\` | \`${flow.slice(2, -2).replaceAll('|', '\\|')}\` | ${summary} |`
}
