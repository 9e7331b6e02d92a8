import { describe, expect, test } from 'vitest'
import { compareItems } from '../../src/protocol/compare.js'
import { type Item, ItemSet } from '../../src/protocol/items.js'
import { readScript } from '../../src/protocol/read-scripts.js'
import { readTypes } from '../../src/protocol/read-types.js'

const containers = new Set(['XGROUP'])

/** Items of a script. `#{` begins a value that is inserted into a template. */
function inScript(code: string): string[] {
  return readScript('a.js', code.replaceAll('#{', '${'), containers).map(({ kind, name }) => `${kind} ${name}`)
}

describe('built JavaScript', () => {
  test('is parsed and never run', () => {
    const code = `globalThis.wasRun = true; process.exitCode = 3; throw new Error(); class A extends Command {
      constructor(c) { super(["GET", ...c]) } }`
    expect(inScript(code)).toEqual(['command GET'])
    expect('wasRun' in globalThis).toBe(false)
  })

  test.each<[string, string, readonly string[]]>([
    [
      'super() of a command class',
      'class A extends Command { constructor(c) { super(["get", ...c]) } }',
      ['command GET'],
    ],
    [
      'a variable that is passed to super()',
      'class A extends Command { constructor(c) { const args = ["lpos", c]; args.push("RANK"); super(args) } }',
      ['command LPOS', 'option LPOS RANK'],
    ],
    ['another class', 'class A extends Error { constructor(c) { super(["get", ...c]) } }', []],
    [
      'a variable and push()',
      'function f(k) { const command = ["set", k]; if (k) command.push("NX"); command.push("EX", 1) }',
      ['command SET', 'option SET NX', 'option SET EX'],
    ],
    [
      'words behind each other',
      'const f = (s) => { const command = ["X.Y", "ON", "STREAM", s] }',
      ['command X.Y', 'option X.Y ON STREAM'],
    ],
    [
      'a spread with a condition',
      'function f(o) { this.command = ["COPY", ...(o ? ["REPLACE"] : [])] }',
      ['command COPY', 'option COPY REPLACE'],
    ],
    [
      'a subcommand',
      'function f(k) { const command = ["xgroup", "create", k, "mkstream"] }',
      ['command XGROUP CREATE', 'option XGROUP CREATE MKSTREAM'],
    ],
    [
      'a function that adds options',
      'function more(v) { return v ? ["VALUES", v] : inner(v) } function inner(v) { return ["FP32", v] } class A extends Command { constructor(v) { super(["V.ADD", ...more(v)]) } }',
      ['command V.ADD', 'option V.ADD VALUES', 'option V.ADD FP32'],
    ],
    [
      'functions that call each other',
      'function a() { b() } function b() { a(); const command = ["GET"] }',
      ['command GET'],
    ],
    ['a script in Lua', 'const s = `local x = redis.call("INCRBY", KEYS[1], #{n})`', ['command INCRBY']],
  ])('has commands and options in %s', (_what, code, items) => {
    expect(inScript(code)).toEqual(items)
  })

  test.each<[string, string, readonly string[]]>([
    [
      'an object with a path',
      'http.request({ method: "DELETE", path: ["v2", "messages", id], query: { count, cursor: 1 }, headers: { "Content-Type": "x" } })',
      [
        'endpoint DELETE /v2/messages/{}',
        'parameter DELETE /v2/messages/{} count',
        'parameter DELETE /v2/messages/{} cursor',
        'header content-type',
      ],
    ],
    [
      'a constant path with a condition',
      'function f(id) { const path = id ? ["v2", "a", id] : ["v2", "a"]; return { method: "GET", path } }',
      ['endpoint GET /v2/a/{}', 'endpoint GET /v2/a'],
    ],
    [
      'a method and a template',
      'request(auth, "POST", `/v2/redis/rename/#{id}`, { name })',
      ['endpoint POST /v2/redis/rename/{}', 'parameter POST /v2/redis/rename/{} name'],
    ],
    [
      'a query that the client adds',
      'request(auth, "GET", `/v2/search/#{id}/stats#{query}`)',
      ['endpoint GET /v2/search/{}/stats'],
    ],
    [
      'a query in the path',
      'x({ method: "DELETE", path: ["v2", "runs", `#{id}?cancel=true`] })',
      ['endpoint DELETE /v2/runs/{}', 'parameter DELETE /v2/runs/{} cancel'],
    ],
    ['fetch', 'fetch(`#{url}/v2/keys`)', ['endpoint GET /v2/keys']],
    [
      'a URL that is only built',
      'const hook = `#{url}/v2/workflows/hooks/#{a}`',
      ['endpoint ANY /v2/workflows/hooks/{}'],
    ],
  ])('has endpoints and parameters in %s', (_what, code, items) => {
    expect(inScript(code)).toEqual(items)
  })

  test('has headers, statuses and recognized texts', () => {
    const code = `headers.set("Upstash-Delay", d); headers.get("RateLimit-Limit"); set(\`Upstash-Forward-\${k}\`)
      if (response.status === 429 || 404 !== response.status || response.status >= 200) {}
      if (error.message.includes("NOSCRIPT")) {}`
    expect(inScript(code)).toEqual([
      'header upstash-delay',
      'header upstash-delay',
      'header ratelimit-limit',
      'header upstash-forward-*',
      'status 429',
      'status 404',
      'text recognized: NOSCRIPT',
    ])
  })
})

describe('declarations', () => {
  test('have fields with types, and descriptions', () => {
    const code = `
      /** A message. @see https://x.test */
      type Message = { id: string; owner?: { name: string /* inner */ }; items: { a: 1 }[] } & { more: number }
      type State = "A" | "B"
      declare class Client {
        /** Sends. */
        send(a: string): void
        /** @see https://x.test/a */
        link(): void
      }`
    const found = readTypes('a.d.ts', code).map(({ kind, name, value, text, source }) => [
      kind,
      name,
      text ?? value,
      source,
    ])
    expect(found).toEqual([
      ['text', 'Message', 'A message.', 'a.d.ts:3'],
      ['field', 'Message', '', 'a.d.ts:3'],
      ['field', 'Message id', 'string', 'a.d.ts:3'],
      ['field', 'Message owner', '?object', 'a.d.ts:3'],
      ['field', 'Message owner.name', 'string', 'a.d.ts:3'],
      ['field', 'Message items', '{ a: 1; }[]', 'a.d.ts:3'],
      ['field', 'Message items.a', '1', 'a.d.ts:3'],
      ['field', 'Message more', 'number', 'a.d.ts:3'],
      ['field', 'State', '"A" | "B"', 'a.d.ts:4'],
      ['text', 'Client.send', 'Sends.', 'a.d.ts:7'],
    ])
  })
})

describe('a comparison', () => {
  const item = (kind: Item['kind'], name: string, more: Partial<Item> = {}): Item => ({
    kind,
    name,
    value: '',
    source: 'a:1',
    ...more,
  })
  const rows = (...args: Parameters<typeof compareItems>): string[] =>
    compareItems(...args).map(({ change, kind, name }) => `${change} ${kind} ${name}`)

  test('reports new, changed and gone items', () => {
    const before = [item('field', 'a'), item('field', 'b', { value: '1' }), item('field', 'c')]
    const after = [item('field', 'b', { value: '2' }), item('field', 'c'), item('field', 'd')]
    expect(rows(before, after)).toEqual(['gone field a', 'changed field b', 'new field d'])
    expect(rows(after, after)).toEqual([])
  })

  test('reports no items of a new or removed owner', () => {
    const owned = [
      item('command', 'X'),
      item('option', 'X NX', { owner: 'X' }),
      item('text', 'ERR x', { owner: 'X' }),
      item('status', 'X 200', { owner: 'X' }),
      item('header', 'X h', { owner: 'X 200' }),
    ]
    expect(rows([], owned)).toEqual(['new command X'])
    expect(rows(owned, [])).toEqual(['gone command X'])
    expect(rows([owned[0]!], owned)).toEqual(['new option X NX', 'new status X 200', 'new text ERR x'])
  })

  test('asks our tables first, and the record if they are not certain', () => {
    const items = [item('command', 'A'), item('field', 'F')]
    expect(rows(items, items, () => 'no')).toEqual(['new command A', 'new field F'])
    expect(rows([], items, () => 'yes')).toEqual([])
    expect(rows([], items, () => 'perhaps')).toEqual(['new command A', 'new field F'])
    expect(rows(undefined, items, () => 'perhaps')).toEqual([])
  })

  test('joins an error text that was extended', () => {
    const before = [item('text', 'ERR value is too large'), item('text', 'ERR other')]
    const after = [item('text', 'ERR value is too large: at most 5'), item('text', 'ERR different')]
    expect(rows(before, after)).toEqual([
      'new text ERR different',
      'gone text ERR other',
      'changed text ERR value is too large: at most 5',
    ])
  })

  test('sees each change of a long value and of a text', () => {
    const long = (end: string): Item[] => {
      const set = new ItemSet()
      set.add(item('field', 'a', { value: 'x'.repeat(500) + end }))
      return set.list()
    }
    expect(long('1')[0]!.value.length).toBeLessThan(200)
    expect(rows(long('1'), long('2'))).toEqual(['changed field a'])
    expect(rows([item('text', 'a', { text: 'one' })], [item('text', 'a', { text: 'two' })])).toEqual(['changed text a'])
  })
})
