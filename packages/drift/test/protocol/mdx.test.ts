import { describe, expect, test } from 'vitest'
import { parseSyntax } from '../../src/protocol/command-syntax.js'
import { readMdx } from '../../src/protocol/read-mdx.js'

/** Items of a page as `kind name: value`. */
function itemsOf(text: string, file = 'redis/commands/string/set.mdx'): string[] {
  return readMdx(file, text).map(({ kind, name, value }) =>
    value === '' ? `${kind} ${name}` : `${kind} ${name}: ${value}`,
  )
}

const command = (body: string): string => `---\ntitle: SET\n---\n${body}`
const api = (body: string): string => `---\ntitle: Logs\napi: "GET https://queue.test/v2/logs/{id}"\n---\n${body}`

describe('the syntax of a command', () => {
  test.each<[string, string, Record<string, string>]>([
    ['key value', 'key value', {}],
    ['key value [value ...]', 'key value [value ...]', {}],
    ['key [NX | XX] [GET] [EX seconds | KEEPTTL]', 'key', { NX: '', XX: '', GET: '', EX: 'seconds', KEEPTTL: '' }],
    ['key [NX|XX]', 'key', { NX: '', XX: '' }],
    [
      'index DIM d METRIC EUCLIDEAN|COSINE [EXISTSOK]',
      'index',
      { DIM: 'd', METRIC: 'COSINE | EUCLIDEAN', EXISTSOK: '' },
    ],
    ['index [PROFILE <FAST | BALANCED>]', 'index', { PROFILE: 'BALANCED | FAST' }],
    ['key [FULL [COUNT count]]', 'key', { FULL: '', COUNT: 'count' }],
    ['name ON STREAM key SCHEMA field type', 'name', { 'ON STREAM': 'key', SCHEMA: 'field type' }],
    ['index id <VALUES n e1 ... en | BASE64-FP32 text>', 'index id', { VALUES: 'n e1 ... en', 'BASE64-FP32': 'text' }],
    ['key [LIMIT offset count', 'key', { LIMIT: 'offset count' }],
  ])('%s', (syntax, positional, options) => {
    const parsed = parseSyntax(syntax)
    expect(parsed.positional).toBe(positional)
    expect(Object.fromEntries(parsed.options)).toEqual(options)
  })

  test('may be nested without end', () => {
    expect(parseSyntax(`key ${'[<'.repeat(10_000)}`).options.size).toBe(0)
  })
})

describe('the page of a command', () => {
  test('has options in its syntax, its fields, its tables and its lists', () => {
    const text = command(`
## Syntax
\`\`\`redis
SET key value [NX]
\`\`\`
## Options
| What it does | Option |
|---|---|
| only if it exists | \`XX\` |
- \`EX seconds\`: the lifetime
<ParamField body="PX" type="integer" default={5} required />
`)
    expect(itemsOf(text)).toEqual([
      'command SET',
      'command SET: key value',
      'option SET NX',
      'option SET XX',
      'option SET EX: seconds',
      'option SET PX: integer, required, default 5',
    ])
  })

  test('about an SDK has options in an object', () => {
    const text = command(`
<ParamField body="key" type="string" required>The key</ParamField>
<ParamField body="options">
  <Expandable>
    <ParamField body="nx" type="boolean">
      Only new keys.
    </ParamField>
  </Expandable>
</ParamField>
`)
    expect(itemsOf(text)).toEqual([
      'command SET',
      'command SET: key: string, required',
      'command SET: options: ',
      'option SET NX: boolean',
    ])
  })

  test.each([
    ['SDK page in capitals', 'redis/sdks/ts/commands/zset/zadd.mdx', 'ZADD', ['command ZADD']],
    ['a subcommand', 'redis/commands/acl/acl-cat.mdx', 'ACL CAT', ['command ACL CAT']],
    ['a module', 'redis/commands/search/search-create.mdx', 'SEARCH.CREATE', ['command SEARCH.CREATE']],
    ['a name in lower case', 'redis/commands/string/get.mdx', 'Get', ['command GET']],
    ['an overview', 'redis/commands/array/overview.mdx', 'Overview', []],
    ['a page in capitals elsewhere', 'qstash/features/dlq.mdx', 'DLQ', []],
  ])('%s', (_what, file, title, items) => {
    expect(itemsOf(`---\ntitle: "${title}"\n---\n`, file)).toEqual(items)
  })

  test('has error texts in tables, lists and prose', () => {
    const text = command(`
## Errors
| Error | When |
|---|---|
| \`unknown option\` | it is unknown |
- \`ERR syntax error\` if an option is unknown
It may reply \`WRONGTYPE Operation against a key\`.
`)
    expect(itemsOf(text).slice(1)).toEqual([
      'text unknown option',
      'text ERR syntax error',
      // The list item is an entry and prose.
      'text ERR syntax error',
      'text WRONGTYPE Operation against a key',
    ])
  })
})

describe('other forms of pages', () => {
  test('a table without outer bars, and bold options', () => {
    const text = command(`
## Options
Option | Meaning
--- | ---
\`EX seconds\` | the lifetime

- **KEEPTTL**: keeps it
- **Note**: this is prose
`)
    expect(itemsOf(text)).toEqual(['command SET', 'option SET EX: seconds', 'option SET KEEPTTL'])
  })

  test('a table with the type and the default of each parameter', () => {
    const text = api(`
| Parameter | Type | Default | Description |
|---|---|---|---|
| \`count\` | integer | \`100\` | how many |
`)
    expect(itemsOf(text).slice(1)).toEqual(['parameter GET /v2/logs/{} count: integer, 100'])
  })

  test('an overview with all commands of a type in one cell', () => {
    const text = `
| Feature | Supported? | Supported Commands |
| ------- | :--------: | :----------------- |
| [String](/x) | ✅ | APPEND - GET - XINFO STREAM |
| Set | ✅ | SADD, SCARD |
`
    expect(itemsOf(text, 'redis/overall/compatibility.mdx')).toEqual(
      ['APPEND', 'GET', 'XINFO STREAM', 'SADD', 'SCARD'].map((name) => `command ${name}`),
    )
  })

  test('error texts in examples of responses and in code', () => {
    const text = api(`
\`\`\`json 400 Bad Request
{ "error": "the filter is empty" }
\`\`\`
\`\`\`json 200 OK
{ "message": "this is no error" }
\`\`\`
\`\`\`
ERR max requests limit exceeded
\`\`\`
`)
    expect(itemsOf(text).filter((item) => item.startsWith('text '))).toEqual([
      'text the filter is empty',
      'text ERR max requests limit exceeded',
    ])
  })
})

describe('the page of an endpoint', () => {
  test('has parameters, headers, fields and statuses', () => {
    const text = api(`
<ParamField query="cursor" type="string" />
<ParamField header="Upstash-Delay" type="string" />
<ResponseField name="logs" type="array">
  <ResponseField name="state" type="string">
  </ResponseField>
</ResponseField>
<ResponseField name="count" type="integer" />
| Status | Meaning |
|---|---|
| 404 | unknown |
- **429**: too many
\`\`\`json 200 OK
{}
\`\`\`
`)
    expect(itemsOf(text)).toEqual([
      'endpoint GET /v2/logs/{}',
      'parameter GET /v2/logs/{} cursor: string',
      'header GET /v2/logs/{} upstash-delay: string',
      'field GET /v2/logs/{} logs: array',
      'field GET /v2/logs/{} logs.state: string',
      'field GET /v2/logs/{} count: integer',
      'status GET /v2/logs/{} 404',
      'status GET /v2/logs/{} 429',
      'status GET /v2/logs/{} 200',
    ])
  })

  test('may name its file in the front matter', () => {
    const text = '---\nopenapi: "qstash/openapi.yaml delete /v2/messages"\n---\n'
    expect(itemsOf(text, 'qstash/api/delete.mdx')).toEqual(['endpoint DELETE /v2/messages'])
  })
})

describe('any page', () => {
  test('mentions headers and endpoints as code', () => {
    const text = `
Send \`Upstash-Delay: 3s\` or \`Upstash-Forward-<name>\` with \`POST /v2/publish/{destination}\`.
\`\`\`bash
curl -H "Upstash-Cron: * * * * *" https://queue.test/v2/schedules
\`\`\`
`
    expect(itemsOf(text, 'qstash/howto.mdx')).toEqual([
      'header upstash-delay',
      'header upstash-forward-*',
      'endpoint POST /v2/publish/{}',
      'header upstash-cron',
    ])
  })

  test('has no items in comments, and keeps its line numbers', () => {
    const text = `<!-- \`Upstash-A: 1\` -->
{/* \`Upstash-B: 1\`
\`Upstash-C: 1\` */} \`Upstash-D: 1\` {/* \`Upstash-E: 1\` */}
\`\`\`js
const open = '{/*'
\`\`\`
\`Upstash-F: 1\``
    expect(readMdx('a.mdx', text).map(({ name, source }) => `${name} ${source}`)).toEqual([
      'upstash-d a.mdx:3',
      'upstash-f a.mdx:7',
    ])
  })

  test.each([
    ['comments that do not end', '{/* '],
    ['brackets', '['],
    ['columns', '| '],
    ['tags', '<ParamField a="'],
    ['backticks', '`a '],
    ['spaces', ' '],
    ['lines', '\n'],
  ])('is read in linear time: %s', (_what, part) => {
    const start = performance.now()
    readMdx('a.mdx', command(part.repeat(200_000 / part.length)))
    readMdx('a.mdx', command(`${part.repeat(1_000 / part.length)}\n`.repeat(200)))
    expect(performance.now() - start).toBeLessThan(4_000)
  })
})
