import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compareItems } from '../../src/protocol/compare.js'
import { itemKinds } from '../../src/protocol/items.js'
import { DocumentsError, documentLimits, readDocuments } from '../../src/protocol/read-documents.js'

const fixtures = new URL('../documents/', import.meta.url).pathname

interface Expected {
  readonly kind: string
  readonly change: string
  readonly name: string
  readonly source: string
}

describe('two states of a documentation, written without a look at the parser', () => {
  const expected = JSON.parse(readFileSync(join(fixtures, 'expected.json'), 'utf8')) as readonly Expected[]
  const rows = compareItems(readDocuments(join(fixtures, 'before')).items, readDocuments(join(fixtures, 'after')).items)

  test('differ in exactly the expected rows', () => {
    const shown = rows.map(({ kind, change, name, source }) => ({
      kind,
      change,
      name,
      source: source.replace(/:\d+$/, ''),
    }))
    expect(shown.sort(byText)).toEqual(
      expected
        .map(({ kind, change, name, source }) => ({ kind, change, name: ourName(kind, name, source), source }))
        .sort(byText),
    )
  })

  test('differ in one new, one changed and one gone item of each kind', () => {
    const each = itemKinds.flatMap((kind) => ['changed', 'gone', 'new'].map((change) => `${kind} ${change}`))
    expect(rows.map(({ kind, change }) => `${kind} ${change}`).sort()).toEqual(each.sort())
  })

  test('have a line for each row, in which its name or its value is', () => {
    for (const { kind, name, change, source } of rows) {
      const [file, line] = source.split(':')
      const lines = readFileSync(join(fixtures, change === 'gone' ? 'before' : 'after', file!), 'utf8').split(/\r?\n/)
      const word = kind === 'endpoint' ? name.split(' ')[0]! : name.split(' ').at(-1)!
      // A parameter begins in the line of its first field, and the name may follow.
      const around = lines.slice(Number(line) - 1, Number(line) + 4).join('\n')
      expect(around.toLowerCase(), `${source} ${name}`).toContain(word.toLowerCase())
    }
  })

  /** Names of variables in paths do not matter, header names are in lower case, and the server's path is added. */
  function ourName(kind: string, name: string, source: string): string {
    if (kind === 'text') return name
    const path = name
      .replace(/\{[^}]*\}/g, '{}')
      .replace(/^([A-Z]+) \//, source.startsWith('devops/') ? '$1 /v2/' : '$1 /')
    return kind === 'header' ? path.replace(/\S+$/, (header) => header.toLowerCase()) : path
  }

  function byText(one: object, other: object): number {
    return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
  }
})

describe('a folder of documents', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stuntdouble-documents-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const names = (): string[] => readDocuments(folder).items.map(({ name }) => name)
  const page = (title: string): string => `---\ntitle: ${title}\n---\n`

  test('is read without links, hidden folders and other files', () => {
    const outside = mkdtempSync(join(tmpdir(), 'stuntdouble-outside-'))
    mkdirSync(join(folder, 'commands'))
    mkdirSync(join(folder, '.git'))
    writeFileSync(join(folder, 'commands', 'get.mdx'), page('GET'))
    writeFileSync(join(folder, '.git', 'hidden.mdx'), page('HIDDEN'))
    writeFileSync(join(folder, 'commands', 'text.txt'), page('TEXT'))
    writeFileSync(join(outside, 'secret.mdx'), page('SECRET'))
    symlinkSync(join(outside, 'secret.mdx'), join(folder, 'commands', 'secret.mdx'))
    symlinkSync(outside, join(folder, 'outside'))
    symlinkSync(folder, join(folder, 'commands', 'circle'))
    expect(names()).toEqual(['GET'])
    rmSync(outside, { recursive: true })
  })

  test('must exist', () => {
    expect(() => readDocuments(join(folder, 'none'))).toThrow(DocumentsError)
  })

  test('must not be a link', () => {
    symlinkSync(folder, `${folder}-link`)
    expect(() => readDocuments(`${folder}-link`)).toThrow(/is not a folder/)
    rmSync(`${folder}-link`)
  })

  test('must not contain a file that is too large', () => {
    writeFileSync(join(folder, 'large.mdx'), '')
    truncateSync(join(folder, 'large.mdx'), documentLimits.maxFileBytes + 1)
    expect(() => readDocuments(folder)).toThrow(/large\.mdx has more than/)
  })

  test('must not contain an OpenAPI file that is not YAML', () => {
    writeFileSync(join(folder, 'openapi.yaml'), 'openapi: 3.1.0\npaths: {a: [}')
    expect(() => readDocuments(folder)).toThrow(/^openapi\.yaml cannot be parsed/)
  })

  test('must not contain aliases that multiply', () => {
    const levels = Array.from({ length: 30 }, (_, index) =>
      index === 0 ? 'a0: &a0 {x: 1}' : `a${index}: &a${index} [*a${index - 1}, *a${index - 1}, *a${index - 1}]`,
    )
    writeFileSync(join(folder, 'bomb.yaml'), ['openapi: 3.1.0', ...levels].join('\n'))
    expect(() => readDocuments(folder)).toThrow(/^bomb\.yaml cannot be parsed: .*alias/)
  })

  test('is read to the end if an alias or a reference leads back to itself', () => {
    const text = `openapi: 3.1.0
paths:
  /v2/a:
    get:
      parameters:
        - {$ref: '#/components/parameters/a'}
      responses: {200: {content: {application/json: {schema: &self {properties: {id: {type: string}, self: *self}}}}}}
components:
  parameters: {a: {$ref: '#/components/parameters/b'}, b: {$ref: '#/components/parameters/a'}}
  schemas:
    Node: {properties: {next: {$ref: '#/components/schemas/Node'}}}
    List: &list {items: *list}
`
    writeFileSync(join(folder, 'circle.yaml'), text)
    expect(names()).toEqual(expect.arrayContaining(['GET /v2/a', 'GET /v2/a id', 'Node next', 'List']))
  })

  // Each level would multiply the work by four.
  test('is read quickly if several aliases lead back to themselves', () => {
    const aliases = ['a', 'b', 'c', 'd'].map((name) => `${name}: *self`).join(', ')
    const text = `openapi: 3.1.0
components:
  schemas:
    A: &self {properties: {${aliases}}, anyOf: [*self, *self, *self, *self]}
`
    writeFileSync(join(folder, 'circles.yaml'), text)
    const start = performance.now()
    expect(names()).toEqual(expect.arrayContaining(['A', 'A a', 'A d']))
    expect(performance.now() - start).toBeLessThan(4_000)
  })

  test('may contain names of the prototype', () => {
    const text = `openapi: 3.1.0
components: {schemas: {__proto__: {properties: {constructor: {type: string}}}, toString: {$ref: '#/components/schemas/valueOf'}}}
`
    writeFileSync(join(folder, 'names.yaml'), text)
    expect(names()).toContain('__proto__ constructor')
    expect(({} as { properties?: unknown }).properties).toBeUndefined()
  })
})
