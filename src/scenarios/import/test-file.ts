import { plural } from '../../kernel/plural.js'
import { plainText } from '../../report/safe-text.js'
import type { Imported } from './import-scenario.js'

/** Options of the generated test file. */
export interface TestFileOptions {
  readonly runner: 'vitest' | 'jest'
  /** `ts` has types; `cjs` has `require` instead of `import`. */
  readonly language: 'ts' | 'js' | 'cjs'
}

/** Handler in the generated file that the user must write, for one URL of the records. */
interface HandlerStub {
  readonly url: string
  readonly name: string
}

/**
 * Returns a test file for an imported scenario. The user must add the code under test to the file. Until then, the test
 * fails with a message that asks for this code. After that, the test reproduces the failure in production, until the
 * code is fixed.
 */
export function testFileText({ scenario, notes }: Imported, { runner, language }: TestFileOptions): string {
  const title = plainText(scenario.name)
  const places = placesOf(scenario)
  const imports = importsFor(runner).map(([name, from]) => imported(name, from, language))
  const request = language === 'ts' ? 'request: Request' : 'request'
  const head = [
    `// ${title}: what production recorded, and a line for the code under test.`,
    ...notes.map((note) => `// Note: ${plainText(note)}`),
    ...imports,
    '',
    `// FILL IN ${places.length === 1 ? 'the next line' : `the next ${plural(places.length, 'line')}`}: a function from Request to Response, such as a route handler. An import() inside it finds`,
    '// the URLs, tokens and signing keys of the sandbox in process.env; an app may also run elsewhere:',
    `//   const handler = async (${request}) => (await import('../src/app/api/orders/route.js')).POST(request)`,
    `//   const handler = (${request}) => fetch('http://localhost:3000/api/orders', request)`,
  ]
  const missing = places.map(({ url, name }, index) => {
    const line = head.length + index + 1
    const sentence = `No code is under test yet. Put your handler for ${plainText(url)} into line ${line} of this file.`
    return `  if (${name} === undefined) throw new Error(${JSON.stringify(sentence)})`
  })
  return [
    ...head,
    ...places.map(({ url, name }) => `const ${name} = undefined // responds at ${plainText(url)}`),
    '',
    `const recorded = defineScenario(${literal(scenario)})`,
    '',
    `test(${JSON.stringify(title)}, async () => {`,
    ...missing,
    '  const play = await playScenario(recorded, {',
    '    setup: (sandbox) => {',
    '      Object.assign(process.env, sandbox.env)',
    '      replaceFetch(sandbox)',
    ...places.map(({ url, name }) => `      sandbox.destinations.on(${JSON.stringify(url)}, ${name})`),
    '    },',
    '  })',
    "  if (!play.holds) throw new Error([play.verdict(), play.timeline()].join('\\n\\n'))",
    '})',
    '',
  ].join('\n')
}

function placesOf({ steps = [] }: Imported['scenario']): readonly HandlerStub[] {
  const urls = new Set(steps.flatMap((step) => ('publish' in step ? [step.publish.to] : [])))
  return [...urls].map((url, index) => ({ url, name: index === 0 ? 'handler' : `handler${index + 1}` }))
}

function importsFor(runner: 'vitest' | 'jest'): readonly (readonly [name: string, from: string])[] {
  return [
    ['defineScenario', 'stuntdouble'],
    ['replaceFetch', 'stuntdouble/fetch'],
    ['playScenario', 'stuntdouble/scenarios'],
    // Jest provides its functions as globals.
    ...(runner === 'vitest' ? [['test', 'vitest'] as const] : []),
  ]
}

function imported(name: string, from: string, language: TestFileOptions['language']): string {
  return language === 'cjs' ? `const { ${name} } = require('${from}')` : `import { ${name} } from '${from}'`
}

/** Returns plain data as an object literal. Only keys that need quotes have them. */
function literal(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/^( +)"([A-Za-z]\w*)":/gm, '$1$2:')
}
