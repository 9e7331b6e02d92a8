import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Plugin, type RolldownOptions, rolldown } from 'rolldown'
import { minifySync, type ParseResult, parseSync, Visitor } from 'rolldown/utils'

// Parts of the core that the Node build loads on first use. An isolating runner imports the package for every test
// file, and most test files need few of these parts.
//
// The sources import a part statically, through the functions that a few files export. The build replaces these files:
// each function then loads the part and calls the function of the same name. A part imports nothing. Its file exports
// a function that receives what the part needs of the core, so each class exists once, however the package is loaded.

/** The deferred parts, with the files through which other modules import them. */
export const deferredParts: Readonly<Record<string, readonly string[]>> = {
  commands: ['src/store/commands/rare-commands.ts'],
  cron: ['src/kernel/cron.ts'],
  dumps: ['src/sandbox/sandbox-dump.ts', 'src/sandbox/rebase-time.ts'],
  matchers: [
    'matchers/asymmetric.ts',
    'matchers/bulk-action-matchers.ts',
    'matchers/command-matchers.ts',
    'matchers/cost-matcher.ts',
    'matchers/explorations.ts',
    'matchers/failure/compose-failure.ts',
    'matchers/idle.ts',
    'matchers/key-matchers.ts',
    'matchers/message-matchers.ts',
    'matchers/outbound-matchers.ts',
    'matchers/requests.ts',
    'matchers/run-matchers.ts',
    'matchers/schedule-matchers.ts',
    'matchers/sequence.ts',
    'matchers/signatures.ts',
  ],
  pages: ['packages/inspector/page/page-document.ts'],
  past: ['src/sandbox/journal-replay.ts', 'src/sandbox/past-sandbox.ts', 'src/sandbox/as-of.ts'],
  queue: ['src/sandbox/region-of.ts', 'src/queue/dump/load-queue.ts', 'src/workflow/run-messages.ts'],
  reports: [
    'src/report/describe.ts',
    'src/report/failure-text.ts',
    'src/report/har.ts',
    'src/report/mermaid.ts',
    'src/report/normalized.ts',
    'src/report/run-lifecycles.ts',
    'src/report/run-text.ts',
    'src/report/text-diagram.ts',
    'src/report/timeline.ts',
    'src/report/trace.ts',
  ],
  scenarios: ['src/scenarios/scenario.ts', 'src/scenarios/scenario-steps.ts'],
  scripts: ['src/store/scripting/deferred-scripts.ts'],
  snapshots: ['src/store/dump/snapshot.ts'],
  statistics: ['src/stats/rest/stats-endpoints.ts'],
  traces: ['src/report/load-trace.ts'],
}

export interface DeferredPart {
  readonly name: string
  /** Code of the function that receives a list of what the part needs, and returns the functions of its files. */
  readonly factory: string
  readonly needs: readonly Need[]
  /** Published files that the part imports, such as the texts of the inspector. */
  readonly files: readonly Need[]
  /** Code that replaces each of its files, by path. */
  readonly stubs: ReadonlyMap<string, string>
}

interface Boundary {
  readonly path: string
  /** Names of the exported functions. */
  readonly names: readonly string[]
}

const pathOf = (source: string): string => new URL(source, import.meta.url).pathname

const boundariesOf: ReadonlyMap<string, readonly Boundary[]> = new Map(
  Object.entries(deferredParts).map(([name, sources]) => [name, sources.map(boundaryOf)]),
)
const boundaryPaths: ReadonlySet<string> = new Set([...boundariesOf.values()].flat().map(({ path }) => path))

/**
 * Builds the parts. A module is in a part if nothing else needs it.
 * @param options input and resolution of the main build
 */
export async function buildParts(options: RolldownOptions): Promise<readonly DeferredPart[]> {
  const { graph, loaders } = await graphOf(options)
  const entries = Object.values(options.input as Record<string, string>).map(pathOf)
  // What a part loads with `import()` is a chunk of the build, which the part cannot contain.
  const loadedAtImport = reachable(graph, [...entries, ...loaders])
  const reached = new Map(
    [...boundariesOf].map(([name, files]) => [
      name,
      reachable(
        graph,
        files.map(({ path }) => path),
      ),
    ]),
  )
  const parts: DeferredPart[] = []
  for (const [name, ids] of reached) {
    const others = [...reached].filter(([other]) => other !== name).map(([, otherIds]) => otherIds)
    const own = new Set([...ids].filter((id) => !loadedAtImport.has(id) && !others.some((each) => each.has(id))))
    parts.push(await buildPart(name, own, options))
  }
  return parts
}

/** Replaces the files through which parts are imported. */
export function deferring(parts: readonly DeferredPart[], format: Format): Plugin {
  const stubs = new Map([
    [readingName, reading],
    ...parts.flatMap((part) => [[loaderOf(part.name), loader(part, format)] as const, ...part.stubs]),
  ])
  return {
    name: 'deferring',
    resolveId(source) {
      if (/^(#|\.\/)parts\//.test(source)) return { id: source, external: true }
      return stubs.has(source) ? source : undefined
    },
    load(id) {
      const code = stubs.get(id)
      return code === undefined ? undefined : { code, moduleType: 'js' }
    },
  }
}

function boundaryOf(source: string): Boundary {
  const path = pathOf(source)
  const { program } = parseSync(path, readFileSync(path, 'utf8'))
  const names = program.body.flatMap((statement) =>
    statement.type === 'ExportNamedDeclaration' && statement.declaration?.type === 'FunctionDeclaration'
      ? [statement.declaration.id!.name]
      : [],
  )
  return { path, names }
}

/** Returns the modules that each module imports, and those that use `import()`. */
async function graphOf(options: RolldownOptions) {
  const graph = new Map<string, readonly string[]>()
  const loaders: string[] = []
  const recorder: Plugin = {
    name: 'graph',
    buildEnd() {
      for (const id of this.getModuleIds()) {
        const { importedIds = [], dynamicallyImportedIds = [] } = this.getModuleInfo(id) ?? {}
        graph.set(id, [...importedIds, ...dynamicallyImportedIds])
        if (dynamicallyImportedIds.length > 0) loaders.push(id)
      }
    },
  }
  const bundle = await rolldown({ ...options, plugins: [options.plugins, recorder] })
  await bundle.generate({ format: 'es' })
  await bundle.close()
  return { graph, loaders }
}

/** Returns the modules that these modules load, without those behind a boundary. */
function reachable(graph: ReadonlyMap<string, readonly string[]>, from: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const visit = (id: string): void => {
    if (seen.has(id)) return
    seen.add(id)
    for (const next of graph.get(id) ?? []) if (!boundaryPaths.has(next)) visit(next)
  }
  for (const id of from) visit(id)
  return seen
}

const entryName = 'part:entry'

async function buildPart(name: string, own: ReadonlySet<string>, options: RolldownOptions): Promise<DeferredPart> {
  const boundaries = boundariesOf.get(name)!
  for (const { path } of boundaries) {
    if (!own.has(path))
      throw new Error(`${path} cannot be in a deferred part: it uses import(), or another part or entry loads it.`)
  }
  const entry = boundaries.flatMap(({ path, names }, file) =>
    names.map((each) => `export { ${each} as ${each}_${file} } from '${path}'`),
  )
  const part: Plugin = {
    name: 'part',
    async resolveId(source, importer) {
      if (source === entryName) return entryName
      const resolved = await this.resolve(source, importer, { skipSelf: true })
      return resolved === null || resolved.external || own.has(resolved.id)
        ? resolved
        : { id: resolved.id, external: 'absolute' }
    },
    load: (id) => (id === entryName ? entry.join('\n') : undefined),
  }
  const bundle = await rolldown({ ...options, input: entryName, plugins: [part, options.plugins] })
  const { output } = await bundle.generate({ format: 'es', codeSplitting: false })
  await bundle.close()
  const { body, needs, files, exported } = separated(name, output[0].code)
  const exports = exported.map(({ as, local }) => `${as}: ${local}`)
  const received = needs.map(({ local }) => local)
  return {
    name,
    factory: `function ${name}([${received.join(', ')}]) {\n${body}\nreturn { ${exports.join(', ')} };\n}`,
    needs,
    files,
    stubs: new Map(boundaries.map(({ path, names }, file) => [path, stub(name, names, file)])),
  }
}

export type Format = 'es' | 'cjs'

const loaderOf = (name: string): string => `part:${name}`

function loader({ name, needs }: DeferredPart, format: Format): string {
  const imports = needs.map(({ from, imported }, at) => {
    const bindings = imported.map((each, member) => `${each} as need${at}_${member}`)
    return `import { ${bindings.join(', ')} } from '${from}'`
  })
  const given = needs.map(({ imported, isNamespace }, at) => {
    const values = imported.map((each, member) =>
      isNamespace ? `${each}: need${at}_${member}` : `need${at}_${member}`,
    )
    return isNamespace ? `{ ${values.join(', ')} }` : values[0]
  })
  return [
    ...(format === 'es'
      ? [`import { partNamed } from '#parts/${name}'`]
      : [
          `import { reading } from '${readingName}'`,
          `const partNamed = (name) => reading(name, () => require('./parts/${name}.cjs'))`,
        ]),
    ...imports,
    'let part',
    `export function loaded() { return part ??= partNamed('${name}')([${given.join(', ')}]) }`,
  ].join('\n')
}

function stub(name: string, names: readonly string[], file: number): string {
  const functions = names.map(
    (each) => `export function ${each}(...given) { return loaded().${each}_${file}(...given) }`,
  )
  return [`import { loaded } from '${loaderOf(name)}'`, ...functions].join('\n')
}

const readingName = 'part:reading'

/**
 * Reads a part in Node. A test may have replaced `fs.readFileSync`, with which Node reads code. Then Node gets the
 * original one for this read, and a spy does not see the read.
 */
const reading = `const fs = typeof process === 'object' ? process.getBuiltinModule?.('node:fs') : undefined
const original = fs && Object.getOwnPropertyDescriptor(fs, 'readFileSync')
export function reading(name, read) {
  const replaced = fs && Object.getOwnPropertyDescriptor(fs, 'readFileSync')
  const isReplaced = replaced?.value !== original?.value
  try {
    if (isReplaced) Object.defineProperty(fs, 'readFileSync', original)
    const part = read()
    if (typeof part !== 'function') throw new TypeError('It is not the code of stuntdouble.')
    return part
  } catch (cause) {
    throw new Error('stuntdouble cannot read its file dist/parts/' + name + '.cjs. If the package was bundled, leave it external, or bundle it with the condition "module". Otherwise the file must be readable until it is first used.', { cause })
  } finally {
    if (isReplaced) Object.defineProperty(fs, 'readFileSync', replaced)
  }
}
`

type Program = ParseResult['program']

interface Need {
  /** Module of the core. */
  readonly from: string
  /** Names of the imported bindings: one, or the members that the part uses of a namespace. */
  readonly imported: readonly string[]
  readonly isNamespace: boolean
  /** Its name in the part. */
  readonly local: string
}

/** Separates the imports and exports of a part from its code. */
function separated(name: string, code: string) {
  const { module, program, errors } = parseSync(`${name}.js`, code)
  if (errors.length > 0) throw new Error(`${name}: ${errors[0]!.message}`)
  const imports = module.staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.map(
      ({ importName, localName }): Need => ({
        from: moduleRequest.value,
        ...(importName.kind === 'NamespaceObject'
          ? { isNamespace: true, imported: membersOf(localName.value, program) }
          : { isNamespace: false, imported: [importName.name ?? 'default'] }),
        local: localName.value,
      }),
    ),
  )
  const exported = module.staticExports.flatMap(({ entries }) =>
    entries.map(({ exportName, localName }) => ({ as: exportName.name!, local: localName.name! })),
  )
  const outside = [...module.staticImports, ...module.staticExports].toSorted((a, b) => b.start - a.start)
  const body = outside.reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), code)
  const isFile = ({ from }: Need): boolean => from.startsWith('./')
  return { body, needs: imports.filter((need) => !isFile(need)), files: imports.filter(isFile), exported }
}

/** Returns the members of a namespace that a program uses. */
function membersOf(namespace: string, program: Program): readonly string[] {
  const members = new Set<string>()
  let uses = 0
  let memberUses = 0
  const visitor = new Visitor({
    Identifier: ({ name }) => {
      if (name === namespace) uses++
    },
    MemberExpression: ({ object, property, computed }) => {
      if (object.type !== 'Identifier' || object.name !== namespace || computed || property.type !== 'Identifier')
        return
      memberUses++
      members.add(property.name)
    },
  })
  visitor.visit(program)
  // The import itself is a use.
  if (uses !== memberUses + 1) throw new Error(`A deferred part uses the namespace ${namespace} as a value.`)
  return [...members]
}

/**
 * Writes other characters as escapes. V8 keeps a text of ASCII characters in half the memory, and reads and compiles it
 * faster. They are only in strings and regular expressions.
 */
export function escaped(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const emptyMap = { version: 3, sources: [], names: [], mappings: '' }

/**
 * A source map without mappings. A runner that transforms the package then makes none either: such maps would be four
 * times as large as the code, and lead only to the same minified line.
 */
export const noMappings: string = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(emptyMap)).toString('base64')}`

/** How the chunks of the build are minified. What stands in a stack keeps its name. */
export const minified = { compress: false, mangle: { toplevel: false, keepNames: true } } as const

/**
 * Writes the parts, and what `#parts/NAME` is in Node: a module that reads a part on first use. Elsewhere, and for
 * bundlers, which resolve the condition `module`, it is the part itself.
 */
export function writeParts(parts: readonly DeferredPart[]): void {
  mkdirSync('dist/parts', { recursive: true })
  for (const { name, factory, files } of parts) {
    const imports = files.map(({ from, imported, local }) => [`.${from}`, `${imported[0]} as ${local}`] as const)
    const requires = files.map(({ from, imported, local }) => [`.${from}`, `${imported[0]}: ${local}`] as const)
    write(`${name}.js`, [
      ...imports.map(([from, binding]) => `import { ${binding} } from '${from}'`),
      `export const partNamed = () => ${factory}`,
    ])
    write(`${name}.cjs`, [
      ...requires.map(([from, binding]) => `const { ${binding} } = require('${from}')`),
      `module.exports = ${factory}`,
    ])
  }
  writeFileSync('dist/parts/node.js', `${onFirstUse}${reading}${noMappings}\n`)
}

function write(file: string, lines: readonly string[]): void {
  const { code, errors } = minifySync(file, lines.join('\n'), { ...minified, module: file.endsWith('.js') })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  writeFileSync(`dist/parts/${file}`, `${escaped(code)}${file.endsWith('.js') ? `\n${noMappings}\n` : ''}`)
}

const onFirstUse = `import { createRequire } from 'node:module'
export function partNamed(name) {
  return reading(name, () => createRequire(import.meta.url)('./' + name + '.cjs'))
}
`
