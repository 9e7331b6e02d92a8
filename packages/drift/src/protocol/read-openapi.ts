import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { sortedChoices } from './command-syntax.js'
import { type Item, oneLine } from './items.js'

// Reads OpenAPI 3 files: endpoints with parameters, headers and statuses, and the fields of schemas.

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
/** Maximum nesting of schemas inside each other, and of references to references. */
const maxDepth = 12

type Json = Readonly<Record<string, unknown>>

/** Whether a YAML or JSON text is an OpenAPI file. */
export function isOpenApi(text: string): boolean {
  return /(?:^|[{,])[ \t]*["']?openapi["']?[ \t]*:/m.test(text)
}

/**
 * Returns the items of one OpenAPI file.
 * @throws Error if the file cannot be parsed
 */
export function readOpenApi(file: string, text: string): Item[] {
  const lines = new LineCounter()
  // The parser would compare each key with all others of its map. As in JSON, the last of equal keys counts.
  const document = parseDocument(text, { lineCounter: lines, logLevel: 'error', merge: true, uniqueKeys: false })
  if (document.errors.length > 0) throw document.errors[0]!
  // The default limit for aliases protects against documents that grow exponentially.
  const root: unknown = document.toJS()
  if (!isObject(root)) throw new TypeError('the document is not an object')
  const pairs: PairsByKey = new Map()
  const lineOf = (path: Path): number => {
    const node = nearestNode(document.contents, path, pairs)
    return node?.range ? lines.linePos(node.range[0]).line : 1
  }
  const reader = new OpenApiReader(file, root, lineOf)
  reader.read()
  return reader.items
}

type Path = readonly (string | number)[]

/** A value of the document with its place, after references were followed. */
interface Found {
  readonly value: Json
  readonly path: Path
}

class OpenApiReader {
  readonly items: Item[] = []
  /** Schemas whose properties are being read. An alias of YAML can lead back to one of them. */
  readonly #open = new Set<Json>()

  constructor(
    readonly file: string,
    readonly root: Json,
    readonly lineOf: (path: Path) => number,
  ) {}

  read(): void {
    for (const [path, given] of entries(this.root.paths)) {
      const item = this.#resolve(given, ['paths', path])
      if (item === undefined) continue
      for (const method of methods) {
        const operation = item.value[method]
        if (isObject(operation)) this.#operation(method, path, item, operation)
      }
    }
    const components = isObject(this.root.components) ? this.root.components : {}
    for (const [name, given] of entries(components.schemas)) this.#schema(name, given, ['components', 'schemas', name])
  }

  #add(kind: Item['kind'], name: string, path: Path, more: Partial<Item> = {}): void {
    this.items.push({ kind, name, value: '', source: `${this.file}:${this.lineOf(path)}`, ...more })
  }

  #resolve(given: unknown, path: Path, depth = 0): Found | undefined {
    if (!isObject(given)) return undefined
    const reference = given.$ref
    if (typeof reference !== 'string') return { value: given, path }
    // References to other files are not followed.
    if (!reference.startsWith('#/') || depth > maxDepth) return undefined
    const target = reference
      .slice(2)
      .split('/')
      .map((part) => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    let value: unknown = this.root
    for (const part of target) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
    return this.#resolve(value, target, depth + 1)
  }

  #operation(method: string, path: string, item: Found, operation: Json): void {
    const at = [...item.path, method]
    const endpoint = `${method.toUpperCase()} ${this.#base(operation, item.value)}${path.replace(/\{[^}]*\}/g, '{}')}`
    this.#add('endpoint', endpoint, at, { value: flags(operation) })
    const shared = listOf(item.value.parameters).map((given, index) => ({
      given,
      at: [...item.path, 'parameters', index],
    }))
    const own = listOf(operation.parameters).map((given, index) => ({ given, at: [...at, 'parameters', index] }))
    for (const { given, at } of [...shared, ...own]) this.#parameter(endpoint, given, at)
    this.#body(endpoint, operation.requestBody, [...at, 'requestBody'])
    for (const [status, given] of entries(operation.responses)) {
      this.#response(endpoint, status, given, [...at, 'responses', status])
    }
  }

  /** Returns the path of the server's URL, which is part of every path: `/v2`. */
  #base(operation: Json, item: Json): string {
    const [server] =
      ([operation.servers, item.servers, this.root.servers].find((list) => listOf(list).length > 0) as
        | [unknown]
        | []) ?? []
    const url = isObject(server) && typeof server.url === 'string' ? server.url : ''
    return url.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/\/+$/, '')
  }

  #parameter(endpoint: string, given: unknown, path: Path): void {
    const found = this.#resolve(given, path)
    const name = found?.value.name
    if (found === undefined || typeof name !== 'string') return
    const { value } = found
    const schema = this.#resolve(value.schema, [...found.path, 'schema'])
    const facts = [value.required === true ? 'required' : '', flags(value), typeOf(value.schema, schema?.value)]
    const more = {
      value: facts.filter((fact) => fact !== '').join(', '),
      owner: endpoint,
    }
    if (value.in === 'header') this.#add('header', `${endpoint} ${name.toLowerCase()}`, found.path, more)
    else this.#add('parameter', `${endpoint} ${name}`, found.path, more)
  }

  #body(endpoint: string, given: unknown, path: Path): void {
    const body = this.#resolve(given, path)
    if (body === undefined) return
    for (const [type, media] of entries(body.value.content)) {
      const at = [...body.path, 'content', type, 'schema']
      if (isObject(media)) this.#properties('parameter', `${endpoint} `, endpoint, media.schema, at)
    }
  }

  #response(endpoint: string, status: string, given: unknown, path: Path): void {
    const response = this.#resolve(given, path)
    if (response === undefined) return
    const types: string[] = []
    const owner = `${endpoint} ${status}`
    for (const [type, media] of entries(response.value.content)) {
      if (!isObject(media)) continue
      const at = [...response.path, 'content', type]
      types.push(`${type} ${typeOf(media.schema, this.#resolve(media.schema, [])?.value)}`.trim())
      this.#properties('field', `${endpoint} `, owner, media.schema, [...at, 'schema'])
      if (/^[45]|default/.test(status)) this.#errors(owner, media, at)
    }
    this.#add('status', owner, path, { value: types.sort().join(', '), owner: endpoint })
    for (const [name, header] of entries(response.value.headers)) {
      const found = this.#resolve(header, [...response.path, 'headers', name])
      if (found === undefined) continue
      this.#add('header', `${endpoint} ${name.toLowerCase()}`, found.path, {
        value: typeOf(found.value.schema),
        owner,
      })
    }
  }

  /** Adds the error texts in the examples of a response. */
  #errors(owner: string, media: Json, path: Path): void {
    const examples = entries(media.examples).map(([name, one]) => ({ one, at: [...path, 'examples', name] }))
    for (const { one, at } of [{ one: media.example, at: [...path, 'example'] }, ...examples]) {
      const found = this.#resolve(one, at)?.value ?? {}
      const value = isObject(found.value) ? found.value : found
      for (const name of ['error', 'message', 'detail']) {
        const text = value[name]
        if (typeof text === 'string') this.#add('text', oneLine(text), at, { owner })
      }
    }
  }

  #schema(name: string, given: unknown, path: Path): void {
    const schema = this.#resolve(given, path)
    if (schema === undefined) return
    this.#add('field', name, path, { value: typeOf(given, schema.value) })
    this.#properties('field', `${name} `, name, given, path)
  }

  /** Adds the properties of a schema. A schema with a name of its own is read where it is defined. */
  #properties(kind: 'field' | 'parameter', prefix: string, owner: string, given: unknown, path: Path, depth = 0): void {
    if (!isObject(given) || depth > maxDepth || this.#open.has(given)) return
    if (typeof given.$ref === 'string') return
    this.#open.add(given)
    const required = new Set(listOf(given.required))
    for (const [name, property] of entries(given.properties)) {
      const at = [...path, 'properties', name]
      const target = this.#resolve(property, at)
      const facts = [required.has(name) ? 'required' : '', typeOf(property, target?.value)]
      this.#add(kind, `${prefix}${name}`, at, {
        value: facts.filter((fact) => fact !== '').join(', '),
        owner,
      })
      this.#properties(kind, `${prefix}${name}.`, owner, property, at, depth + 1)
    }
    for (const word of ['allOf', 'anyOf', 'oneOf']) {
      listOf(given[word]).forEach((part, index) => {
        this.#properties(kind, prefix, owner, part, [...path, word, index], depth + 1)
      })
    }
    this.#properties(kind, prefix, owner, given.items, [...path, 'items'], depth + 1)
    this.#properties(kind, prefix, owner, given.additionalProperties, [...path, 'additionalProperties'], depth + 1)
    this.#open.delete(given)
  }
}

/** Facts of a schema that limit its values. */
const limits = ['default', 'const', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern']

/**
 * Returns the type of a schema with everything that limits its values: `integer int64, default 100, minimum 1`.
 * @param resolved the schema to which `given` refers
 * @param outer the schemas of which this one is a part
 */
function typeOf(given: unknown, resolved?: Json, outer: readonly Json[] = []): string {
  const schema = resolved ?? given
  if (!isObject(given) || !isObject(schema) || outer.length > maxDepth || outer.includes(schema)) return ''
  const inner = [...outer, schema]
  // The name of a schema with fields says enough. The others are the same, whether or not they have a name.
  if (typeof given.$ref === 'string' && (resolved === undefined || isObject(resolved.properties)))
    return given.$ref.split('/').at(-1)!
  const type = [schema.type, schema.format].flat().filter((one) => one !== undefined)
  const items = typeOf(schema.items, undefined, inner)
  const choices = ['allOf', 'anyOf', 'oneOf'].flatMap((word) =>
    listOf(schema[word]).map((one) => typeOf(one, undefined, inner)),
  )
  const parts = [
    type.join(' '),
    items === '' ? '' : `of ${items}`,
    sortedChoices(choices),
    Array.isArray(schema.enum) ? sortedChoices(schema.enum.map((one) => JSON.stringify(one))) : '',
    ...limits.flatMap((word) => (schema[word] === undefined ? [] : [`${word} ${JSON.stringify(schema[word])}`])),
    flags(schema),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function flags(value: Json): string {
  const names = ['deprecated', 'nullable', 'readOnly', 'writeOnly'].filter((name) => value[name] === true)
  return names.join(', ')
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Entries of each map that was searched. A file can have thousands of paths, and each of their items asks for a line. */
type PairsByKey = Map<YAMLMap, ReadonlyMap<string | undefined, Pair>>

/** Returns the node of the document at a path, or the last one on the way that exists. */
function nearestNode(contents: unknown, path: Path, known: PairsByKey): Node | undefined {
  let node = contents as Node | undefined
  for (const [index, part] of path.entries()) {
    let next: unknown
    if (isMap(node)) {
      // The key has the line of the entry; its value may begin in the next line.
      const pairs = known.get(node) ?? new Map(node.items.map((pair) => [keyOf(pair), pair]))
      known.set(node, pairs)
      const pair = pairs.get(String(part))
      if (index === path.length - 1 && isScalar(pair?.key)) return pair.key
      next = pair?.value
    } else if (isSeq(node)) next = node.items[Number(part)]
    if (next === undefined || next === null || isAlias(next)) return node
    node = next as Node
  }
  return node
}

function keyOf({ key }: Pair): string | undefined {
  return isScalar(key) ? String(key.value) : undefined
}
